import { Name } from '../shared/name.tsx'
import { ms, type Placed, type Shown, weightOf } from './onion-layers.ts'
import { type Column, Table } from './table.tsx'

/** Each layer with its own time, its decision and its changes. */
export function LayerTable({ layers, chosen, choose }: Shown) {
  const longest = Math.max(...layers.map(({ self }) => self), 0.001)
  const columns: Column<Placed>[] = [
    {
      name: 'Layer',
      isHeader: true,
      cell: (layer, at) => <LayerName layer={layer} isChosen={chosen === at} choose={() => choose(at)} />,
    },
    {
      name: 'Self time',
      isNumber: true,
      cell: ({ self }) => (
        <>
          <i className="share" style={{ width: `${(5 * self) / longest}rem` }} />
          {ms(self)}
        </>
      ),
    },
    { name: 'Decision', cell: (layer) => <Decision layer={layer} /> },
    { name: 'Changed', cell: ({ changed = [] }) => changed.length > 0 && <Changes changed={changed} /> },
  ]
  return (
    <div className="layers">
      <Table
        label="Layers"
        columns={columns}
        rows={layers}
        rowClass={(_, at) => (chosen === at ? 'chosen' : undefined)}
      />
    </div>
  )
}

function LayerName({ layer, isChosen, choose }: { layer: Placed; isChosen: boolean; choose(): void }) {
  const { subject, core, scope, depth } = layer
  return (
    <button
      type="button"
      className="layer"
      style={{ marginInlineStart: `calc(${Math.min(depth, 12)} * var(--indent))` }}
      aria-pressed={isChosen}
      onClick={choose}
    >
      {subject !== undefined && !core && <span className="quiet">{scope} </span>}
      <Name of={layer.layer} />
    </button>
  )
}

function Decision({ layer: { decision, entered, detail } }: { layer: Placed }) {
  return (
    <>
      <span className={`badge ${weightOf(decision)}`}>{decision}</span>
      {decision === 'retried' && ` ${entered} times`}
      {detail && (
        <span className="quiet">
          {' '}
          <Name of={detail} most={160} />
        </span>
      )}
    </>
  )
}

function Changes({ changed }: { changed: NonNullable<Placed['changed']> }) {
  const fields = changed.map(({ field, note }) => (note ? `${field} (${note})` : field))
  return (
    <span className="quiet">
      <Name of={fields.join(', ')} most={160} />
    </span>
  )
}
