import { Panel, pathOf } from './panel.tsx'

interface Day {
  day: string
  runs: number
  usage: { inputTokens: number; outputTokens: number }
  cost: number
}

/** What a tenant has used, day by day. */
export function Usage({ tenant }: { tenant: string }) {
  return (
    <Panel<{ days: Day[] }> title="Usage and cost" path={pathOf(tenant, 'usage')} wide>
      {({ days }) => (
        <>
          <Sums days={days} />
          <Plot days={days} />
          <details>
            <summary>As a table</summary>
            <Table days={days.toReversed()} />
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

const [width, height, foot, left] = [720, 200, 24, 64]

/** A bar for each day, and lines at what is round. */
function Plot({ days }: { days: Day[] }) {
  const top = roundAbove(Math.max(...days.map(({ cost }) => cost)))
  const step = (width - left) / days.length
  const y = (cost: number) => 8 + (height - 8) * (1 - cost / top)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key
    <section className="scrolls from-end" tabIndex={0} aria-label="Cost by day">
      <svg className="plot" viewBox={`0 0 ${width} ${height + foot}`} role="img" aria-label="Cost in USD, by day">
        {[0, top / 2, top].map((cost) => (
          <g key={cost}>
            <line x1={left} x2={width} y1={y(cost)} y2={y(cost)} />
            <text x={left - 8} y={y(cost) + 4} textAnchor="end">
              {usd(cost)}
            </text>
          </g>
        ))}
        {days.map(({ day, cost, runs }, at) => (
          <g key={day}>
            <rect x={left + at * step + step * 0.18} width={step * 0.64} y={y(cost)} height={y(0) - y(cost)} rx="3">
              <title>{`${day}: ${usd(cost)}, ${runs} turns`}</title>
            </rect>
            {(days.length - 1 - at) % 3 === 0 && (
              <text x={left + (at + 0.5) * step} y={height + 18} textAnchor="middle">
                {shortDay(day)}
              </text>
            )}
          </g>
        ))}
      </svg>
    </section>
  )
}

function Table({ days }: { days: Day[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key
    <section className="scrolls" tabIndex={0} aria-label="Usage by day">
      <table>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col" className="number">
              Turns
            </th>
            <th scope="col" className="number">
              Tokens in
            </th>
            <th scope="col" className="number">
              Tokens out
            </th>
            <th scope="col" className="number">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {days.map(({ day, runs, usage, cost }) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              <td className="number">{runs}</td>
              <td className="number">{whole(usage.inputTokens)}</td>
              <td className="number">{whole(usage.outputTokens)}</td>
              <td className="number">{usd(cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function usd(amount: number): string {
  const digits = amount === 0 || amount >= 1 ? 2 : 4
  return `$${amount.toFixed(digits)}`
}
function whole(count: number): string {
  return count.toLocaleString()
}
function shortDay(day: string): string {
  return new Date(day).toLocaleDateString(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })
}
/** The next of 1, 2, 5, 10… */
function roundAbove(amount: number): number {
  if (amount <= 0) return 0.01
  const power = 10 ** Math.floor(Math.log10(amount))
  return ([1, 2, 5, 10].find((factor) => factor * power >= amount) as number) * power
}
