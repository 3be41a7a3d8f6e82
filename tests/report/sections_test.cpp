int b_placeholder;
