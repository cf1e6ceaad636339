// Package view shows runs in a browser: one page that says what ran, what it found, what it cost and why. The same
// page is a live one on this machine while a run goes on ([Server]), and a file that needs no network afterwards
// ([Report]).
package view
