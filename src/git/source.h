/* SPDX-License-Identifier: Apache-2.0 */
/* A repository that somebody named as a source, and where it may lead. */
#ifndef GIT_SOURCE_H
#define GIT_SOURCE_H

#include "base/attr.h"
#include "base/error.h"
#include "git/lib.h"
#include "git/repo.h"

/*
 * Opens it. Unless it is trusted it has to be the caller's or root's (root may open anybody's), and
 * everything that will be read has to lie in it: else whoever made it could have the caller copy
 * what the maker cannot read. ERR_ESCAPE says what leads out.
 */
MUST_CHECK int source_open(const struct repo_source *s, git_repository **ret, struct error *err);

#endif
