/** Known names, those first that need the fewest edits to become the given one; a swap of neighbours is one edit. */
export function nearestFirst(given: string, known: readonly string[]): string[] {
  const wanted = given.toLowerCase()
  const far = new Map(known.map((name) => [name, edits(wanted, name.toLowerCase())]))
  return [...known].sort((a, b) => (far.get(a) as number) - (far.get(b) as number))
}

/** Whether one of the names is one slip away: a letter more, less or other, or two that changed places. */
export function isNear(given: string, known: readonly string[]): boolean {
  return known.some((name) => edits(given.toLowerCase(), name.toLowerCase()) <= 1)
}

/** What to say of a name that is not among those that are known: the one that may be meant, and all of them. */
export function unknownName(given: string, known: readonly string[]): string {
  const [nearest, ...rest] = nearestFirst(given, known)
  if (nearest === undefined) return 'Known are: none.'
  const isNear = edits(given.toLowerCase(), nearest.toLowerCase()) <= Math.max(2, given.length / 3)
  const all = `Known are: ${[nearest, ...rest].join(', ')}.`
  return isNear ? `Did you mean "${nearest}"? ${all}` : all
}

/** The distance of Damerau and Levenshtein, restricted: https://en.wikipedia.org/wiki/Damerau–Levenshtein_distance */
function edits(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let fewest = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, (last[j - 1] as number) + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        fewest = Math.min(fewest, (before[j - 2] as number) + 1)
      row.push(fewest)
    }
    before = last
    last = row
  }
  return last[b.length] as number
}
