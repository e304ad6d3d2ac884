/* SPDX-License-Identifier: Apache-2.0 */
/* What may come next on a command line: what the shells' completion scripts ask for. */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

/*
 * words: what follows `sandglass`, the last one being completed (it may be empty). Prints the kind
 * of file names that fit too (words: none, files, directories, programs), then a line for each word
 * that fits: the word, a tab, what it is.
 */
void complete_words(char *const *words);

#endif
