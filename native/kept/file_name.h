// Parts of the names of kept engines.
#ifndef LATTICE_KEPT_FILE_NAME_H_
#define LATTICE_KEPT_FILE_NAME_H_

#include <string>

namespace lattice {

// The part of a name for people: the first 48 bytes, of letters, digits, '.' and '-'. Any other
// byte becomes '-', because '_' separates the parts of a name.
std::string PlainPart(const std::string& text);

// 32 hex digits that differ where the text does.
std::string HashPart(const std::string& text);

}  // namespace lattice

#endif  // LATTICE_KEPT_FILE_NAME_H_
