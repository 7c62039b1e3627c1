import { useEffect, useState } from 'preact/hooks'
import type { ReplayChange } from '../../src/replay-change.ts'
import { api, type Identity } from '../store/api.ts'
import { live } from '../store/store.ts'

export interface ChangeFieldsProps {
  change: ReplayChange
  setChange(change: ReplayChange): void
  identity: Identity
}

const kinds = { none: 'the files as they are', without: 'a layer off', move: 'a layer elsewhere' } as const

/** Layers that the inspector adds itself. */
const ownLayers = /^(?:server|inspector|replay):/

/** The fields that choose what differs from the recorded turn. */
export function ChangeFields({ change, setChange, identity }: ChangeFieldsProps) {
  const layers = useLayers(identity)
  const [first = '', second = ''] = layers
  const choose = (kind: ReplayChange['kind']) => {
    if (kind === 'without') setChange({ kind, layer: first })
    else if (kind === 'move') setChange({ kind, layer: first, to: 'inside', of: second })
    else setChange({ kind: 'none' })
  }
  return (
    <>
      <label>
        With{' '}
        <select
          value={change.kind}
          onChange={({ currentTarget }) => choose(currentTarget.value as ReplayChange['kind'])}
        >
          {Object.entries(kinds).map(([kind, words]) => (
            <option key={kind} value={kind} disabled={kind !== 'none' && layers.length < (kind === 'move' ? 2 : 1)}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {change.kind !== 'none' && (
        <LayerField
          label="Layer"
          layers={layers}
          value={change.layer}
          set={(layer) => setChange({ ...change, layer })}
        />
      )}
      {change.kind === 'move' && (
        <>
          <select
            aria-label="Place"
            value={change.to}
            onChange={({ currentTarget }) => setChange({ ...change, to: currentTarget.value as typeof change.to })}
          >
            <option>outside</option>
            <option>inside</option>
          </select>
          <LayerField label="of" layers={layers} value={change.of} set={(of) => setChange({ ...change, of })} />
        </>
      )}
    </>
  )
}

interface LayerFieldProps {
  label: string
  layers: readonly string[]
  value: string
  set(layer: string): void
}

function LayerField({ label, layers, value, set }: LayerFieldProps) {
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={({ currentTarget }) => set(currentTarget.value)}>
        {layers.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  )
}

/** The names of the agent's own layers, outermost first. */
function useLayers(identity: Identity): readonly string[] {
  const [layers, setLayers] = useState<readonly string[]>([])
  useEffect(() => {
    api<{ layers: { name: string }[] }>('/inspect', identity).then(
      ({ layers }) => setLayers(layers.map(({ name }) => name).filter((name) => !ownLayers.test(name))),
      () => setLayers([]),
    )
  }, [live.status.at])
  return layers
}
