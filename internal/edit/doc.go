// Package edit changes programs as the replies of models say: by blocks of SEARCH and REPLACE, by unified diffs, and
// between EVOLVE-BLOCK markers alone.
package edit
