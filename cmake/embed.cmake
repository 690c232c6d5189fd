# cmake -DIN=file -DOUT=file.c -DNAME=symbol -P embed.cmake: the bytes of a file as a C array, made while the program is built.
file(READ ${IN} bytes HEX)
string(LENGTH "${bytes}" length)
math(EXPR length "${length} / 2")
string(REGEX REPLACE "(................................)" "\\1\n\t" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
get_filename_component(file ${IN} NAME)
file(WRITE ${OUT} "/* Made from ${file}; change it there. */\n#include <stddef.h>\n\nextern const unsigned char ${NAME}[];\nextern const size_t ${NAME}_len;\n\nconst unsigned char ${NAME}[] = {\n\t${bytes}\n};\nconst size_t ${NAME}_len = ${length};\n")
