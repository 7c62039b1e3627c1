import { useState } from 'react'
import { Name } from '../shared/name.tsx'
import { usePanel } from './live.tsx'
import { flat, type Layer, ms } from './onion-layers.ts'
import { LayerTable } from './onion-table.tsx'
import { Rings } from './rings.tsx'

interface Turn {
  agent: string
  status: string
  duration: number
  root: Layer
}

/** The onion of a turn: each layer with the layers inside it, over time. */
export function OnionPicture({ path }: { path: string }) {
  const asked = usePanel<Turn>(path)
  const [chosen, choose] = useState<number>()
  if (asked.state === 'loading')
    return (
      <p className="quiet loading" aria-busy="true">
        Loading the onion…
      </p>
    )
  if (asked.state === 'failed') return <p className="quiet">This turn has no onion. Onions are stored for a week.</p>
  const { agent, status, duration, root } = asked.value
  const shown = { layers: flat(root), chosen, choose }
  return (
    <figure className="onion">
      <figcaption>
        <strong>The onion of this turn</strong>{' '}
        <span className="quiet">
          <Name of={agent} />, {status} in {ms(duration)}
        </span>
      </figcaption>
      <Rings {...shown} duration={duration} />
      <Legend />
      <LayerTable {...shown} />
    </figure>
  )
}

const meanings = [
  ['passed', 'let the call pass'],
  ['changed', 'changed it'],
  ['stopped', 'stopped it'],
  ['core', 'not a layer, but the loop, a model or a tool'],
] as const

function Legend() {
  return (
    <ul className="legend quiet">
      {meanings.map(([name, meaning]) => (
        <li key={name}>
          <i className={name} /> {meaning}
        </li>
      ))}
    </ul>
  )
}
