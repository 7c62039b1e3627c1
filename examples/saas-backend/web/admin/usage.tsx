import { usePanel } from './live.tsx'
import { Panel, pathOf } from './panel.tsx'
import { Plot } from './plot.tsx'
import { type Column, Table } from './table.tsx'

export interface Day {
  day: string
  runs: number
  usage: { inputTokens: number; outputTokens: number }
  cost: number
}

/** The daily usage of a tenant. */
export function Usage({ tenant }: { tenant: string }) {
  return (
    <Panel<{ days: Day[] }> title="Usage and cost" asked={usePanel(pathOf(tenant, 'usage'))} wide>
      {({ days }) => (
        <>
          <Sums days={days} />
          <Plot days={days} />
          <details>
            <summary>As a table</summary>
            <Table label="Usage by day" columns={columns} rows={days.toReversed()} />
          </details>
        </>
      )}
    </Panel>
  )
}

function Sums({ days }: { days: Day[] }) {
  const sum = (of: (day: Day) => number) => days.reduce((all, day) => all + of(day), 0)
  const sums = [
    ['Cost, 14 days', usd(sum(({ cost }) => cost))],
    ['Today', usd(days.at(-1)?.cost ?? 0)],
    ['Turns', whole(sum(({ runs }) => runs))],
    ['Tokens', whole(sum(({ usage }) => usage.inputTokens + usage.outputTokens))],
  ] as const
  return (
    <dl className="sums">
      {sums.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

const columns: Column<Day>[] = [
  { name: 'Day', cell: ({ day }) => day, isHeader: true },
  { name: 'Turns', cell: ({ runs }) => whole(runs), isNumber: true },
  { name: 'Tokens in', cell: ({ usage }) => whole(usage.inputTokens), isNumber: true },
  { name: 'Tokens out', cell: ({ usage }) => whole(usage.outputTokens), isNumber: true },
  { name: 'Cost', cell: ({ cost }) => usd(cost), isNumber: true },
]

export function usd(amount: number): string {
  const digits = amount === 0 || amount >= 1 ? 2 : 4
  return `$${amount.toFixed(digits)}`
}

function whole(count: number): string {
  return count.toLocaleString()
}
