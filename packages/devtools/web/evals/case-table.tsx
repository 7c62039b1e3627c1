import { useState } from 'preact/hooks'
import type { CaseRow, EvalReportView, MeanView } from '../../src/eval-views.ts'
import { pretty } from '../parts/format.ts'
import { changeWords, type Filter, filtered, filters, plain } from './words.ts'

export interface CaseTableProps {
  report: EvalReportView
  /** The id of the selected case. */
  selected: string | undefined
  select(id: string): void
}

/** Rows that are shown at first, and more with each click. */
const step = 200

/** The cases of a report with the mean of each scorer, beside the baseline. */
export function CaseTable({ report, selected, select }: CaseTableProps) {
  const [filter, setFilter] = useState<Filter>('all')
  const [shown, setShown] = useState(step)
  const rows = filtered(report.cases, filter)
  return (
    <>
      <label>
        Cases{' '}
        <select value={filter} onChange={({ currentTarget }) => setFilter(currentTarget.value as Filter)}>
          {filters.map((name) => (
            <option key={name} value={name}>{`${name} (${filtered(report.cases, name).length})`}</option>
          ))}
        </select>
      </label>
      <table class="cases">
        <caption>Mean scores of the trials, with the baseline's in brackets where it differs</caption>
        <thead>
          <tr>
            {['Case', ...report.scorers].map((name, index) => (
              <th key={index} scope="col">
                {pretty(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map((row) => (
            <Row key={row.id} row={row} isSelected={row.id === selected} select={() => select(row.id)} />
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p class="empty">No case of this report matches.</p>}
      {rows.length > shown && (
        <button type="button" class="quiet more" onClick={() => setShown(shown + step)}>
          {`Show more of ${rows.length.toLocaleString()}`}
        </button>
      )}
    </>
  )
}

function Row({ row, isSelected, select }: { row: CaseRow; isSelected: boolean; select(): void }) {
  const { id, tags, means, isFailing, change, invalid } = row
  return (
    <tr class={isSelected ? 'selected' : ''}>
      <th scope="row">
        <button type="button" class="quiet" aria-pressed={isSelected} onClick={select}>
          {pretty(id)}
        </button>
        {isFailing && <span class="badge fail">failing</span>}
        {change !== undefined && <span class="badge changed">{changeWords[change]}</span>}
        {invalid > 0 && <span class="badge invalid">{`${invalid} invalid`}</span>}
        {tags.length > 0 && <span class="subject">{` ${pretty(tags.join(', '))}`}</span>}
      </th>
      {means.map((mean, index) => (
        <td key={index}>{meanText(mean)}</td>
      ))}
    </tr>
  )
}

function meanText({ mean, before }: MeanView): string {
  const now = mean === undefined ? 'none' : plain(mean)
  return before === undefined || before === mean ? now : `${now} (${plain(before)})`
}
