export interface BarsProps {
  /** Describes the plot to screen readers. The numbers are in a table. */
  label: string
  /** The values of each bar, stacked from the bottom. */
  bars: readonly { name: string; values: readonly number[] }[]
  /** The name and the class of each value. */
  series: readonly { name: string; kind: string }[]
  format(value: number): string
}

const width = 600
const height = 130
/** Room for the line above the bars. */
const top = 1

/** A plot of stacked bars. */
export function Bars({ label, bars, series, format }: BarsProps) {
  const largest = Math.max(...bars.map(({ values }) => sum(values)), 0)
  const step = width / Math.max(bars.length, 8)
  const scale = largest === 0 ? 0 : (height - top) / largest
  return (
    <figure class="plot">
      <div class="label">{format(largest)}</div>
      <svg viewBox={`0 0 ${width} ${height + 2}`} role="img" aria-label={label}>
        <line class="axis" x1="0" x2={width} y1={top} y2={top} />
        <line class="axis" x1="0" x2={width} y1={height} y2={height} />
        {bars.map(({ name, values }, at) => (
          <g key={at}>
            <title>{`${name}: ${values.map((value, index) => `${format(value)} ${series[index]?.name}`).join(', ')}`}</title>
            {values.map((value, index) => (
              <rect
                key={index}
                class={`bar-${series[index]?.kind}`}
                x={at * step + step * 0.1}
                width={step * 0.8}
                y={height - sum(values.slice(0, index + 1)) * scale}
                height={value * scale}
              />
            ))}
          </g>
        ))}
      </svg>
      <figcaption>
        {series.map(({ name, kind }) => (
          <span key={kind}>
            <svg class="key" viewBox="0 0 10 10" aria-hidden="true">
              <rect class={`bar-${kind}`} width="10" height="10" />
            </svg>{' '}
            {name}
          </span>
        ))}
      </figcaption>
    </figure>
  )
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
