// Parts of the names of kept engines.
#ifndef LATTICE_KEPT_FILE_NAME_H_
#define LATTICE_KEPT_FILE_NAME_H_

#include <string>

namespace lattice {

// For people: the first 48 bytes, of letters, digits, '.' and '-'; any other byte becomes '-', as
// '_' separates the parts of a name.
std::string PlainPart(const std::string& text);

// 32 hex digits that differ where the text does.
std::string HashPart(const std::string& text);

}  // namespace lattice

#endif  // LATTICE_KEPT_FILE_NAME_H_
