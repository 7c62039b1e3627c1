/** An entry of the command palette. */
export interface Command {
  group: 'Action' | 'View' | 'Act as' | 'Session'
  name: string
  /** Facts that are shown after the name, and searched too. */
  hint?: string
  run(): void
}

/** Most commands that are shown. */
const maxShown = 40

/** Returns the commands that have all words of the query, those first whose name begins with it. */
export function matching(commands: readonly Command[], query: string): Command[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const textOf = ({ group, name, hint = '' }: Command) => `${group} ${name} ${hint}`.toLowerCase()
  const found = commands.filter((command) => words.every((word) => textOf(command).includes(word)))
  const [first = ''] = words
  const starts = ({ name }: Command) => first !== '' && name.toLowerCase().startsWith(first)
  return [...found.filter(starts), ...found.filter((command) => !starts(command))].slice(0, maxShown)
}

/** Returns the index after a key, as in other lists that a text field controls; undefined for other keys. */
export function indexAfter(key: string, index: number, count: number): number | undefined {
  if (count === 0) return undefined
  if (key === 'ArrowDown') return (index + 1) % count
  if (key === 'ArrowUp') return (index - 1 + count) % count
  if (key === 'PageDown') return Math.min(count - 1, index + 8)
  if (key === 'PageUp') return Math.max(0, index - 8)
  return undefined
}
