// The opcodes of Python's pickles, protocols 0 to 5, by the names of Python's pickletools.
#pragma once

#include <cstdint>

namespace gpunet::io::detail {

enum class PickleOpcode : std::uint8_t {
  mark = '(',
  empty_tuple = ')',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  dup = '2',
  binbytes = 'B',
  short_binbytes = 'C',
  text_float = 'F',
  binfloat = 'G',
  text_int = 'I',
  binint = 'J',
  binint1 = 'K',
  text_long = 'L',
  binint2 = 'M',
  none = 'N',
  text_persid = 'P',
  binpersid = 'Q',
  reduce = 'R',
  text_string = 'S',
  binstring = 'T',
  short_binstring = 'U',
  text_unicode = 'V',
  binunicode = 'X',
  empty_list = ']',
  append = 'a',
  build = 'b',
  global = 'c',
  dict = 'd',
  appends = 'e',
  get = 'g',
  binget = 'h',
  inst = 'i',
  long_binget = 'j',
  list = 'l',
  obj = 'o',
  put = 'p',
  binput = 'q',
  long_binput = 'r',
  setitem = 's',
  tuple = 't',
  setitems = 'u',
  empty_dict = '}',
  proto = 0x80,  // protocol 2
  newobj,
  ext1,
  ext2,
  ext4,
  tuple1,
  tuple2,
  tuple3,
  newtrue,
  newfalse,
  long1,
  long4,
  short_binunicode = 0x8c,  // protocol 4
  binunicode8,
  binbytes8,
  empty_set,
  additems,
  frozenset,
  newobj_ex,
  stack_global,
  memoize,
  frame,
  bytearray8,  // protocol 5
  next_buffer,
  readonly_buffer
};

}  // namespace gpunet::io::detail
