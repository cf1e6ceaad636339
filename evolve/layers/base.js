
;function evoalloc_base() {
  return (typeof ENTRY === 'function' ? ENTRY : module.exports.ENTRY || module.exports)(...JSON.parse(ARGS));
}
