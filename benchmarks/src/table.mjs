const heads = ['work', 'yardstick', 'Allium', 'compared', 'budget', '', 'scaled to this machine']

/** The lines as a table of text. @param {ReturnType<typeof import('./verdict.mjs').linesOf>} lines */
export function table(lines) {
  const cells = [heads, ...lines.map(cellsOf)]
  const widths = heads.map((_, column) => Math.max(...cells.map((row) => row[column].length)))
  const text = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  )
  return [text[0], widths.map((width) => '─'.repeat(width)).join('──'), ...text.slice(1)].join('\n')
}

function cellsOf({ title, unit, kind, yardstick, theirs, ours, found, most, met, scaled, metScaled }) {
  const limit = (value) => `${kind === 'over' ? '+' : '≤ '}${written(value, kind, unit)}`
  return [
    title,
    yardstick === undefined ? '–' : `${yardstick} ${values(theirs, unit)}`,
    values(ours, unit),
    `${kind === 'over' && found >= 0 ? '+' : ''}${written(found, kind, unit)}`,
    limit(most),
    verdict(met),
    scaled === undefined ? '' : `${limit(scaled)} ${verdict(metScaled)}`,
  ]
}

const verdict = (met) => (met ? 'met' : 'NOT met')
const values = (side, unit) => `${Object.values(side).map(short).join(' → ')} ${unit}`
const written = (value, kind, unit) =>
  kind === 'times' || kind === 'growth' ? `${short(value)} ×` : `${short(value)} ${unit}`

/** Three digits or so. */
function short(value) {
  const size = Math.abs(value)
  if (size >= 100) return Math.round(value).toLocaleString('en')
  return String(Number(value.toFixed(size >= 10 ? 1 : 2)))
}
