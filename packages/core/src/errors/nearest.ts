/** Sorts the known names by edit distance to the given one. A swap of neighbors is one edit. */
export function nearestFirst(given: string, known: readonly string[]): string[] {
  return [...known].sort((a, b) => edits(given, a) - edits(given, b))
}

/** Whether one of the names is one edit away: a letter added, removed or replaced, or two neighbors swapped. */
export function isNear(given: string, known: readonly string[]): boolean {
  return known.some((name) => edits(given, name) <= 1)
}

/** Suggests a fix for an unknown name: the most likely name, then all known names. */
export function unknownName(given: string, known: readonly string[]): string {
  const [nearest, ...rest] = nearestFirst(given, known)
  if (nearest === undefined) return 'There are none.'
  const meant = translated(given, known) ?? (isSimilar(given, nearest) ? nearest : undefined)
  const all = `Available: ${[nearest, ...rest].join(', ')}.`
  return meant === undefined ? all : `Did you mean "${meant}"? ${all}`
}

function isSimilar(given: string, nearest: string): boolean {
  return edits(given, nearest) <= Math.max(2, given.length / 3)
}

/** Returns the known name that corresponds to another framework's name. */
function translated(given: string, known: readonly string[]): string | undefined {
  const name = given.replace(/[_-]/g, '').toLowerCase()
  return known.find((one) => Object.hasOwn(foreignNames, one) && foreignNames[one]?.split(' ').includes(name))
}

/** The names of these options in other frameworks, in lower case. */
const foreignNames: Readonly<Record<string, string>> = {
  schema: 'inputschema parameters argsschema input',
  jsonSchema: 'inputschema parameters schema',
  execute: 'run handler func fn call invoke callback',
  requireApproval: 'requiresapproval needsapproval requireconfirmation approval',
  instructions: 'system systemprompt prompt',
  maxSteps: 'maxturns stopwhen maxiterations recursionlimit',
  maxOutputTokens: 'maxtokens maxcompletiontokens',
  stop: 'stopsequences',
  output: 'schema outputschema outputtype responseformat',
  signal: 'abortsignal',
  id: 'sessionid threadid conversationid chatid',
  canApprove: 'candecide',
  attempts: 'retries maxretries',
}

/** The restricted Damerau–Levenshtein distance, without regard to case: https://en.wikipedia.org/wiki/Damerau–Levenshtein_distance */
function edits(given: string, known: string): number {
  const [a, b] = [given.toLowerCase(), known.toLowerCase()]
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
