import { useState } from 'react'
import { Name } from '../shared/name.tsx'
import { ageOf } from './age.ts'
import { usePanel } from './live.tsx'
import { Panel, pathOf, timeOf } from './panel.tsx'
import { Run } from './run.tsx'
import { type Column, Table } from './table.tsx'

interface Group {
  status: string
  agent: string
  version: string
  queue: string
  count: number
  oldestAge: number
}
interface Runs {
  groups: Group[]
  failures: { code: string; count: number }[]
  runs: { run: string; key: { owner: string }; status: string; code?: string; updatedAt: number }[]
}

/** The durable runs of a company, with their number, the age of the oldest and the failed ones. Shows the steps of the selected run. */
export function Runs({ tenant, mayRead }: { tenant: string; mayRead: boolean }) {
  const [open, setOpen] = useState<string>()
  const asked = usePanel<Runs>(pathOf(tenant, 'runs'))
  // Without durable runs, there is nothing to show.
  if (asked.state === 'ready' && asked.value.runs.length === 0) return null
  return (
    <>
      <Panel<Runs> title="Durable runs" asked={asked} wide>
        {({ groups, failures, runs }) => (
          <>
            <Table label="Runs by status" columns={groupColumns} rows={groups} />
            {failures.length > 0 && <Table label="Failures by code" columns={failureColumns} rows={failures} />}
            <ul className="rows">
              {runs.map(({ run, key, status, code, updatedAt }) => (
                <li key={run}>
                  <button type="button" className="row" aria-pressed={open === run} onClick={() => setOpen(run)}>
                    <strong>
                      <Name of={key.owner} />
                    </strong>
                    <span className="quiet">{timeOf(updatedAt)}</span>
                    <span className={`badge ${status}`}>{status}</span>
                    {code !== undefined && (
                      <span className="why">
                        <Name of={code} />
                      </span>
                    )}
                  </button>
                </li>
              ))}
            </ul>
          </>
        )}
      </Panel>
      {open && <Run key={open} tenant={tenant} run={open} mayRead={mayRead} />}
    </>
  )
}

const groupColumns: Column<Group>[] = [
  { name: 'Status', cell: ({ status }) => status, isHeader: true },
  { name: 'Agent', cell: ({ agent, version }) => <Name of={`${agent} ${version}`} /> },
  { name: 'Queue', cell: ({ queue }) => <Name of={queue} /> },
  { name: 'Runs', cell: ({ count }) => count, isNumber: true },
  { name: 'Oldest', cell: ({ oldestAge }) => ageOf(oldestAge), isNumber: true },
]

const failureColumns: Column<Runs['failures'][number]>[] = [
  { name: 'Failure', cell: ({ code }) => <Name of={code} />, isHeader: true },
  { name: 'Runs', cell: ({ count }) => count, isNumber: true },
]
