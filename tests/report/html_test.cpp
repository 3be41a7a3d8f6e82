int a_placeholder;
