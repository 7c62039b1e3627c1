import { Panel, pathOf, timeOf } from './panel.tsx'

interface Audit {
  verdict: { ok: boolean; records: number; firstBad?: { line: number; reason: string } }
  records: { seq: number; at: number | string; [field: string]: unknown }[]
}

/** The chain of the tenant's records: whether it is whole, and its end. */
export function Audit({ tenant }: { tenant: string }) {
  return (
    <Panel<Audit>
      title="Audit"
      path={pathOf(tenant, 'audit')}
      wide
      empty={({ records }) => (records.length === 0 ? 'Nothing on record yet.' : undefined)}
    >
      {({ verdict, records }) => (
        <>
          <p className="verdict">
            <span className={`badge ${verdict.ok ? 'ok' : 'bad'}`}>{verdict.ok ? 'whole' : 'broken'}</span>{' '}
            {verdict.ok
              ? `All ${verdict.records} records stand as they were written.`
              : `Record ${verdict.firstBad?.line} is ${verdict.firstBad?.reason}; ${verdict.records} before it are good.`}
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key */}
          <section className="scrolls tall" tabIndex={0} aria-label="The last records">
            <table>
              <thead>
                <tr>
                  <th scope="col" className="number">
                    No.
                  </th>
                  <th scope="col">When</th>
                  <th scope="col">Who</th>
                  <th scope="col">What</th>
                </tr>
              </thead>
              <tbody>
                {records.map((record) => (
                  <tr key={record.seq}>
                    <td className="number">{record.seq}</td>
                    <td>{whenOf(record)}</td>
                    <td>{String(record.user ?? record.userId ?? '')}</td>
                    <td>{whatOf(record)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        </>
      )}
    </Panel>
  )
}

function whenOf({ at, time }: Audit['records'][number]): string {
  return timeOf(new Date((at ?? time) as string | number).getTime())
}

function whatOf(record: Audit['records'][number]): string {
  return ['type', 'event', 'model', 'tool', 'status', 'approval']
    .flatMap((field) => (typeof record[field] === 'string' ? [record[field]] : []))
    .join(' · ')
}
