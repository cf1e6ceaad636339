// Package view shows runs in a browser: one page with what ran, what it found, and what it cost and why. The page is
// live on this machine while a run goes on ([Server]), and a file that needs no network afterwards ([Report]).
package view
