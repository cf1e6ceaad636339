// Package uplot has uPlot, the script that draws the curves of a run's page. Its files are as their author published them:
// pins.json says which version and with which checksums, and fetch.sh fetches them anew.
package uplot

import _ "embed" // for the files

// Script is uPlot's minified script. It defines uPlot, a global constructor.
//
//go:embed uPlot.iife.min.js
var Script string

// Style is its style sheet.
//
//go:embed uPlot.min.css
var Style string

// License must accompany copies of the two.
//
//go:embed LICENSE
var License string
