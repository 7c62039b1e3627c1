import { type Day, usd } from './usage.tsx'

/** A bar for each day. The bars scale with the page; the labels do not. */
export function Plot({ days }: { days: Day[] }) {
  const top = roundAbove(Math.max(...days.map(({ cost }) => cost)))
  return (
    <figure className="costs">
      <div className="scale quiet" aria-hidden="true">
        {[top, top / 2, 0].map((cost) => (
          <span key={cost}>{usd(cost)}</span>
        ))}
      </div>
      <svg
        className="plot"
        viewBox={`0 0 ${days.length * 10} 100`}
        preserveAspectRatio="none"
        role="img"
        aria-label="Cost in USD, by day"
      >
        {days.map(({ day, cost, runs }, at) => (
          <rect key={day} x={at * 10 + 1.5} width="7" y={100 - (100 * cost) / top} height={(100 * cost) / top}>
            <title>{`${day}: ${usd(cost)}, ${runs} ${runs === 1 ? 'turn' : 'turns'}`}</title>
          </rect>
        ))}
      </svg>
      <div className="days quiet" aria-hidden="true">
        {days.map(({ day }, at) => (
          <span key={day}>{(days.length - 1 - at) % 4 === 0 && shortDay(day)}</span>
        ))}
      </div>
    </figure>
  )
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
