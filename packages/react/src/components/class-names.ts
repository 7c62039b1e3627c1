/** Returns the fixed class name of a component, and the one that the page adds. */
export function classNames(own: string, added: string | undefined): string {
  return added === undefined ? own : `${own} ${added}`
}
