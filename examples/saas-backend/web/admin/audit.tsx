import { Name } from '../shared/name.tsx'
import { toolLabel } from '../shared/tool-values.tsx'
import { usePanel } from './live.tsx'
import { Panel, pathOf, timeOf } from './panel.tsx'
import { type Column, Table } from './table.tsx'

interface Record {
  seq: number
  at?: number | string
  time?: number | string
  [field: string]: unknown
}
interface Audit {
  verdict: { ok: boolean; records: number; firstBad?: { line: number; reason: string } }
  records: Record[]
}

/** The tenant's chain of audit records: whether it is intact, and its newest records. */
export function Audit({ tenant }: { tenant: string }) {
  return (
    <Panel<Audit>
      title="Audit"
      asked={usePanel(pathOf(tenant, 'audit'))}
      wide
      empty={({ records }) => (records.length === 0 ? 'No records yet. Every turn writes some.' : undefined)}
    >
      {({ verdict, records }) => (
        <>
          <Verdict {...verdict} />
          <Table label="The newest records" columns={columns} rows={records} tall />
        </>
      )}
    </Panel>
  )
}

function Verdict({ ok, records, firstBad }: Audit['verdict']) {
  return (
    <p className="verdict">
      <span className={`badge ${ok ? 'ok' : 'bad'}`}>{ok ? 'intact' : 'broken'}</span>{' '}
      {ok
        ? `All ${records} records are intact.`
        : `Record ${firstBad?.line} is ${firstBad?.reason}. The ${records} records before it are intact. Compare them with your copy.`}
    </p>
  )
}

const columns: Column<Record>[] = [
  { name: 'No.', cell: ({ seq }) => seq, isNumber: true },
  { name: 'When', cell: ({ at, time }) => timeOf(new Date(at ?? time ?? 0).getTime()) },
  { name: 'Who', cell: ({ user, userId }) => <Name of={String(user ?? userId ?? '')} /> },
  { name: 'What', cell: (record) => <Name of={whatOf(record)} most={160} /> },
]

function whatOf(record: Record): string {
  return ['type', 'event', 'model', 'tool', 'status', 'approval']
    .flatMap((field) => (typeof record[field] === 'string' ? [wordsOf(field, record[field])] : []))
    .join(' · ')
}

function wordsOf(field: string, value: string): string {
  if (field === 'tool') return toolLabel(value)
  return field === 'type' ? (types.get(value) ?? value) : value
}

/** Records in words. Others are shown by their type. */
const types: ReadonlyMap<string, string> = new Map([
  ['turn:start', 'Turn started'],
  ['turn:resume', 'Turn resumed'],
  ['turn:end', 'Turn ended'],
  ['model:start', 'Model called'],
  ['model:end', 'Model answered'],
  ['tool:start', 'Tool called'],
  ['tool:end', 'Tool call ended'],
])
