// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include "tests/emulator/fuzz/program.h"

namespace fuzz {
namespace {

constexpr const char* atomic_operations[] = {"add", "min", "max", "and", "or", "xor"};

std::string name_of(Register r) { return fmt::format("%{}{}", r.size, r.index); }

std::string text_of(const Operand& o) {
  if (!o.immediate) return name_of(o.reg);
  if (o.reg.size == 'r' && (o.value & 1) != 0)
    return fmt::format("{}", static_cast<std::int32_t>(o.value));
  if (o.reg.size == 'd' && (o.value & 1) != 0)
    return fmt::format("{}", static_cast<std::int64_t>(o.value));
  return fmt::format("{:#x}", o.value);
}

class Writer {
 public:
  std::string run(const Program& program) {
    threads_ = program.threads;
    text_ = fmt::format(R"(.version 8.6
.target sm_90
.address_size 64
{}.visible .entry fuzz(.param .u64 in, .param .u64 out)
{{
.reg .b16 %h<8>, %ht, %hu;
.reg .b32 %r<12>, %rt, %me, %own, %other, %count<4>;
.reg .b64 %d<8>, %dt, %at;
.reg .pred %p<6>, %pt;
.shared .align 8 .b8 buffer[{}];
.local .align 16 .b8 scratch[16];
mov.u32 %me, %tid.x;
mov.u32 %own, buffer;
mad.lo.u32 %own, %me, 8, %own;
ld.param.u64 %at, [in];
mad.wide.u32 %at, %me, 8, %at;
)",
                        helper_text(), 8 * threads_);
    for_slots([&](Register r, int offset) {
      if (r.size == 'p')
        line("ld.global.u32 %rt, [%at+{}]; setp.ne.u32 {}, %rt, 0;", offset, name_of(r));
      else
        line("ld.global.{} {}, [%at+{}];", bits(r.size), name_of(r), offset);
    });
    // A scratch register that no path has written would be an uninitialized one for ptxas.
    line("mov.b16 %ht, 0; mov.b16 %hu, 0; mov.b32 %rt, 0; mov.b64 %dt, 0;");
    line("// body");
    write(program.body, 0);
    line("// end");
    line("ld.param.u64 %at, [out];");
    line("mad.wide.u32 %at, %me, 8, %at;");
    for_slots([&](Register r, int offset) {
      if (r.size == 'p')
        line("selp.b64 %dt, 1, 0, {}; st.global.u64 [%at+{}], %dt;", name_of(r), offset);
      else
        line("st.global.{} [%at+{}], {};", bits(r.size), offset, name_of(r));
    });
    line("ret;\n}}");
    return text_;
  }

 private:
  template <typename... A>
  void line(fmt::format_string<A...> format, A&&... arguments) {
    text_ += fmt::format(format, std::forward<A>(arguments)...) + "\n";
  }
  static const char* bits(Class c) { return c == 'h' ? "b16" : c == 'r' ? "b32" : "b64"; }

  template <typename F>
  void for_slots(F&& f) {
    for (const Class c : {'h', 'r', 'd', 'p'}) {
      for (int i = 0; i < registers_of(c); ++i) f({c, i}, slot_of({c, i}) * threads_ * 8);
    }
  }

  void write(const std::vector<Statement>& list, int depth) {
    for (const Statement& s : list) write(s, depth);
  }

  void write(const Statement& s, int depth) {
    switch (s.kind) {
      case Kind::op:
        return write_op(s);
      case Kind::branch:
        line("@{}%p{} bra else{};", s.negated ? "" : "!", s.guard, s.number);
        write(s.bodies[0], depth + 1);
        line("bra end{};\nelse{}:", s.number, s.number);
        write(s.bodies[1], depth + 1);
        return line("end{}:", s.number);
      case Kind::loop:
        line("and.b32 %count{}, {}, 7;\nloop{}:", depth, name_of(s.sources[0].reg), s.number);
        line("setp.eq.u32 %pt, %count{}, 0; @%pt bra end{};", depth, s.number);
        line("sub.u32 %count{}, %count{}, 1;", depth, depth);
        write(s.bodies[0], depth + 1);
        return line("bra loop{};\nend{}:", s.number, s.number);
      case Kind::jump:
        return write_jump(s, depth);
      default:
        return write_collective(s);
    }
  }

  void write_op(const Statement& s) {
    std::string text;
    for (std::size_t i = 0; i < s.op->text.size(); ++i) {
      if (s.op->text[i] != '$') {
        text += s.op->text[i];
        continue;
      }
      const auto n = static_cast<std::size_t>(s.op->text[++i] - '0');
      text +=
          n < s.results.size() ? name_of(s.results[n]) : text_of(s.sources[n - s.results.size()]);
    }
    const std::string guard =
        s.guard < 0 ? "" : fmt::format("@{}%p{} ", s.negated ? "!" : "", s.guard);
    line("{}{}", guard, text);
  }

  void write_jump(const Statement& s, int depth) {
    line("targets{0}: .branchtargets case{0}_0, case{0}_1, case{0}_2;", s.number);
    line("rem.u32 %rt, {}, 3;\nbrx.idx %rt, targets{};", name_of(s.sources[0].reg), s.number);
    for (std::size_t i = 0; i < s.bodies.size(); ++i) {
      line("case{}_{}:", s.number, i);
      write(s.bodies[i], depth + 1);
      line("bra end{};", s.number);
    }
    line("end{}:", s.number);
  }

  void write_collective(const Statement& s) {
    const std::string d = name_of(s.results[0]), p = name_of(s.results[1]);
    const std::string a = name_of(s.sources[0].reg);
    static constexpr const char* shuffles[] = {"idx", "up", "down", "bfly"};
    static constexpr const char* votes[] = {"ballot.b32", "all.pred", "any.pred", "uni.pred"};
    static constexpr const char* reductions[] = {"add.u32", "min.u32", "max.u32",
                                                 "add.s32", "min.s32", "max.s32",
                                                 "and.b32", "or.b32",  "xor.b32"};
    switch (s.kind) {
      case Kind::exchange: {
        const int most = s.results[0].size == 'h' ? 2 : s.results[0].size == 'r' ? 3 : 4;
        const int width = 8 << (s.mode / 3 % most);
        line("st.shared.u{} [%own], {}; bar.sync 0;", width, a);
        line("add.u32 %other, %me, {}; rem.u32 %other, %other, {};", s.amount, threads_);
        line("mov.u32 %rt, buffer; mad.lo.u32 %other, %other, 8, %rt;");
        return line("ld.shared.{}{} {}, [%other]; bar.sync 0;", s.mode / 12 % 2 ? "s" : "u", width,
                    d);
      }
      case Kind::shuffle:
        return line("shfl.sync.{}.b32 {}|{}, {}, {}, {}, 0xffffffff;", shuffles[s.mode % 4], d, p,
                    a, s.amount, s.control);
      case Kind::vote:
        return line("vote.sync.{} {}, {}{}, 0xffffffff;", votes[s.mode % 4], d,
                    s.negated ? "!" : "", a);
      case Kind::reduce:
        return line("redux.sync.{} {}, {}, 0xffffffff;", reductions[s.mode % 9], d, a);
      case Kind::atomic:
        return write_atomic(s);
      default:
        return line("match.{}.sync.b{} {}{}, {}, 0xffffffff;", s.mode / 2 % 2 ? "all" : "any",
                    s.mode % 2 ? 64 : 32, d, s.mode / 2 % 2 ? "|" + p : "", a);
    }
  }

  // All threads combine their values in one word, which begins as that of thread 0.
  void write_atomic(const Statement& s) {
    const std::string d = name_of(s.results[0]), a = name_of(s.sources[0].reg);
    const int width = s.results[0].size == 'd' ? 64 : 32;
    const char* op = atomic_operations[s.mode / 2 % 6];
    const char kind = s.mode / 2 % 6 > 2 ? 'b' : s.mode / 12 % 2 && s.mode / 2 % 6 != 0 ? 's' : 'u';
    line("mov.u32 %other, buffer; setp.eq.u32 %pt, %me, 0; @%pt st.shared.b{} [%other], {};", width,
         a);
    line("bar.sync 0; red.shared.{}.{}{} [%other], {}; bar.sync 0;", op, kind, width, a);
    line("ld.shared.b{} {}, [%other]; bar.sync 0;", width, d);
  }

  int threads_ = 0;
  std::string text_;
};

}  // namespace

std::string to_ptx(const Program& program) { return Writer().run(program); }

}  // namespace fuzz
