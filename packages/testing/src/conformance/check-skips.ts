/** A skip that names no case would hide that the case has another name by now. @throws TypeError */
export function checkSkips(skip: object, names: readonly string[]): void {
  for (const name of Object.keys(skip))
    if (!names.includes(name))
      throw new TypeError(`There is no case "${name}" to skip. There are:\n${names.join('\n')}`)
}
