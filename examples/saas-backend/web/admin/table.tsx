import type { ReactNode } from 'react'

export interface Column<Row> {
  name: string
  cell(row: Row, at: number): ReactNode
  /** Numbers are aligned to the right. */
  isNumber?: boolean
  /** The row's header. */
  isHeader?: boolean
}

export interface TableProps<Row> {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowClass?(row: Row, at: number): string | undefined
  /** Scrolls when it is long. */
  tall?: boolean
}

/** A table that fits on a phone, where each row becomes a block of names and values. */
export function Table<Row>({ label, columns, rows, rowClass, tall = false }: TableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach content that scrolls
    <section className={tall ? 'scrolls tall' : 'scrolls'} tabIndex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map(({ name, isNumber }) => (
              <th key={name} scope="col" className={isNumber ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={`${at}`} className={rowClass?.(row, at)}>
              {columns.map((column) => (
                <Cell key={column.name} {...{ column, row, at }} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Cell<Row>({ column, row, at }: { column: Column<Row>; row: Row; at: number }) {
  const { name, cell, isNumber, isHeader } = column
  const content = cell(row, at)
  if (isHeader) return <th scope="row">{content}</th>
  return (
    <td className={isNumber ? 'number' : undefined} data-name={name}>
      {content}
    </td>
  )
}
