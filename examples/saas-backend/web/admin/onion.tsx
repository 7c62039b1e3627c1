import { useState } from 'react'
import { useAsked } from '../shared/use-asked.ts'
import { flat, type Layer, type Placed } from './onion-layers.ts'

interface Turn {
  agent: string
  status: string
  duration: number
  reason?: string
  root: Layer
}

/** The onion of a turn: each layer around what ran inside of it, over the time that it took. */
export function OnionPicture({ path }: { path: string }) {
  const [asked] = useAsked<Turn>(path)
  const [chosen, choose] = useState<number>()
  if (asked.state === 'loading')
    return (
      <p className="quiet" aria-busy="true">
        Loading the onion…
      </p>
    )
  if (asked.state === 'failed') return <p className="quiet">The onion of this turn is not kept any more.</p>
  const { agent, status, duration, root } = asked.value
  const layers = flat(root)
  return (
    <figure className="onion">
      <figcaption>
        <strong>The onion of this turn</strong>{' '}
        <span className="quiet">
          {agent}, {status} in {ms(duration)}
        </span>
      </figcaption>
      <Rings layers={layers} duration={duration} chosen={chosen} choose={choose} />
      <Legend />
      <Table layers={layers} chosen={chosen} choose={choose} />
    </figure>
  )
}

interface Shown {
  layers: readonly Placed[]
  chosen: number | undefined
  choose(at: number): void
}

const [width, row] = [1000, 26]

/** From above to below the layers from the outermost in; from left to right the time. */
function Rings({ layers, duration, chosen, choose }: Shown & { duration: number }) {
  const depth = Math.max(...layers.map((layer) => layer.depth)) + 1
  const x = (at: number) => (duration > 0 ? (width * Math.min(at, duration)) / duration : 0)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key
    <section className="scrolls" tabIndex={0} aria-label="Picture of the onion">
      <svg className="rings" viewBox={`0 0 ${width} ${depth * row}`} role="img" aria-label="Layers over time">
        {layers.map(({ layer, scope, core, start, duration: took, self, decision, depth }, at) => {
          const wide = Math.max(3, x(start + took) - x(start) - 1)
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: the table below has the same as buttons
            <g
              key={at}
              className={`${weightOf(decision)}${core ? ' core' : ''}${chosen === at ? ' chosen' : ''}`}
              onClick={() => choose(at)}
            >
              <title>{`${scope} · ${layer}: ${decision}, ${ms(self)} by itself of ${ms(took)}`}</title>
              <rect x={Math.min(x(start), width - 3)} y={depth * row} width={wide} height={row - 3} rx="4" />
              {wide > layer.length * 7.4 + 12 && (
                <text x={x(start) + 7} y={depth * row + 16}>
                  {layer}
                </text>
              )}
            </g>
          )
        })}
      </svg>
    </section>
  )
}

function Legend() {
  return (
    <ul className="legend quiet">
      <li>
        <i className="passed" /> let it through
      </li>
      <li>
        <i className="changed" /> changed it
      </li>
      <li>
        <i className="stopped" /> stopped it
      </li>
      <li>
        <i className="core" /> the core: loop, model, tool
      </li>
    </ul>
  )
}

function Table({ layers, chosen, choose }: Shown) {
  const longest = Math.max(...layers.map(({ self }) => self), 0.001)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key
    <section className="scrolls" tabIndex={0} aria-label="Layers">
      <table className="layers">
        <thead>
          <tr>
            <th scope="col">Layer</th>
            <th scope="col" className="number">
              Self time
            </th>
            <th scope="col">Decision</th>
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          {layers.map(({ layer, scope, subject, core, self, decision, entered, detail, changed = [], depth }, at) => (
            <tr key={`${at}`} className={chosen === at ? 'chosen' : undefined}>
              <th scope="row" className={`depth-${Math.min(depth, 12)}`}>
                <button type="button" className="layer" aria-pressed={chosen === at} onClick={() => choose(at)}>
                  {subject !== undefined && !core && <span className="quiet">{scope} </span>}
                  {layer}
                </button>
              </th>
              <td className="number">
                <i className="share" style={{ width: `${(5 * self) / longest}rem` }} />
                {ms(self)}
              </td>
              <td>
                <span className={`badge ${weightOf(decision)}`}>{decision}</span>
                {decision === 'retried' && ` ${entered} times`}
                {detail && <span className="quiet"> {detail}</span>}
              </td>
              <td className="quiet">
                {changed.map(({ field, note }) => (note ? `${field} (${note})` : field)).join(', ')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function weightOf(decision: string): string {
  if (decision === 'passed' || decision === 'running') return 'passed'
  return changing.has(decision) ? 'changed' : 'stopped'
}
const changing = new Set(['changed', 'skipped', 'retried', 'recovered', 'suspended'])

function ms(time: number): string {
  return time < 10 ? `${time.toFixed(2)} ms` : time < 1000 ? `${time.toFixed(0)} ms` : `${(time / 1000).toFixed(2)} s`
}
