/** Rejects a skip with an unknown name, because the case may have been renamed. @throws TypeError */
export function checkSkips(skip: object, names: readonly string[]): void {
  for (const name of Object.keys(skip))
    if (!names.includes(name)) throw new TypeError(`Unknown case "${name}". The cases are:\n${names.join('\n')}`)
}
