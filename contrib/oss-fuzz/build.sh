#!/bin/bash -eu
# The targets of tests/fuzz with the seeds of the tree; those of a grammar (tests/fuzz/generate.c) once for each format.
cmake -S "$SRC/jeoul" -B "$WORK/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS="$CFLAGS" -DJEOUL_FUZZ=ON -DJEOUL_TESTS=ON \
	-DJEOUL_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" -DJEOUL_CUDA=OFF
cmake --build "$WORK/build"
for target in "$WORK"/build/tests/fuzz_*; do
	name=$(basename "$target")
	cp "$target" "$OUT/"
	[ ! -d "$SRC/jeoul/tests/fuzz/seeds/$name" ] || zip -qj "$OUT/${name}_seed_corpus.zip" "$SRC/jeoul/tests/fuzz/seeds/$name"/*
done
