import { visible } from '../printable.ts'

/** A table of texts. The first row has the names of its columns. */
export type Table = readonly (readonly string[])[]

/** Returns the table with aligned columns. Characters that a terminal would interpret are escaped, also line breaks. */
export function toText(table: Table): string {
  const rows = table.map((row) => row.map(visible))
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
