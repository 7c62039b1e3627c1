import { useEffect, useState } from 'preact/hooks'
import type { ReplayChange } from '../../src/replay-change.ts'
import { api, type Identity } from '../store/api.ts'
import { live } from '../store/store.ts'

export interface ChangeFieldsProps {
  change: ReplayChange
  setChange(change: ReplayChange): void
  identity: Identity
}

/** Layers that the inspector adds itself. */
const ownLayers = /^(?:server|inspector|replay):/

/** The fields that choose what differs from the recorded turn. */
export function ChangeFields({ change, setChange, identity }: ChangeFieldsProps) {
  const layers = useLayers(identity)
  const [first = '', second = ''] = layers
  const choices: [change: ReplayChange, words: string, layers: number][] = [
    [{ kind: 'none' }, 'the files as they are', 0],
    [{ kind: 'without', layer: first }, 'a layer off', 1],
    [{ kind: 'move', layer: first, to: 'inside', of: second }, 'a layer elsewhere', 2],
    [{ kind: 'export', name: '' }, 'another export', 0],
  ]
  return (
    <>
      <label>
        With{' '}
        <select
          value={change.kind}
          onChange={({ currentTarget }) => setChange((choices[currentTarget.selectedIndex] as (typeof choices)[0])[0])}
        >
          {choices.map(([{ kind }, words, needed]) => (
            <option key={kind} value={kind} disabled={layers.length < needed}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {change.kind === 'export' && (
        <input
          aria-label="Export"
          placeholder="export"
          required
          value={change.name}
          onInput={({ currentTarget }) => setChange({ ...change, name: currentTarget.value })}
        />
      )}
      {'layer' in change && (
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
      () => {},
    )
  }, [live.status.at])
  return layers
}
