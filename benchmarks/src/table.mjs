const heads = ['work', 'yardstick', 'Allium', 'found', 'limit', '']

/** The lines as a table of text. @param {ReturnType<typeof import('./verdict.mjs').lineOf>[]} lines */
export function table(lines) {
  return columns([heads, ...lines.map(cellsOf)])
}

/** Rows of cells, the first one the heads, in columns. @param {string[][]} cells */
export function columns(cells) {
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)))
  const [head, ...body] = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  )
  return [head, widths.map((width) => '─'.repeat(width)).join('──'), ...body].join('\n')
}

function cellsOf({ title, unit, kind, yardstick, theirs, ours, found, most, met }) {
  const written = (value) => `${short(value)} ${kind === 'most' ? unit : '×'}`
  return [
    title,
    yardstick === undefined ? '–' : `${yardstick} ${values(theirs, unit)}`,
    values(ours, unit),
    written(found),
    most === undefined ? '–' : `≤ ${written(most)}`,
    met === undefined ? '' : met ? 'met' : 'NOT met',
  ]
}

const values = (side, unit) => `${Object.values(side).map(short).join(' → ')} ${unit}`

/** Three digits or so. @param {number} value */
export function short(value) {
  const size = Math.abs(value)
  if (size >= 100) return Math.round(value).toLocaleString('en')
  return String(Number(value.toFixed(size >= 10 ? 1 : 2)))
}
