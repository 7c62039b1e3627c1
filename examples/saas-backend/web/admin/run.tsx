import { useState } from 'react'
import { ask } from '../shared/api.ts'
import { Name } from '../shared/name.tsx'
import { sentenceOf } from '../shared/problems.ts'
import { ageOf } from './age.ts'
import { usePanel, useRefresh } from './live.tsx'
import { Panel, pathOf, timeOf } from './panel.tsx'
import { RunContent } from './run-content.tsx'
import { type Column, Table } from './table.tsx'
import { usd } from './usage.tsx'

interface Entry {
  type: string
  at: number
  attempt?: number
  kind?: string
  callId?: string
  claim?: number
  status?: string
  code?: string
  spent?: Spent
}
/** The cost is absent if the price of the model is unknown. */
interface Spent {
  inputTokens: number
  outputTokens: number
  cost?: number
}
interface ShownRun {
  run: { run: string; key: { owner: string }; status: string; code?: string }
  timeline: Entry[]
  pending: { callId: string; name: string; expiresAt?: number }[]
  usage?: { inputTokens: number; outputTokens: number; calls: number }
  cost?: number
}

/** One run as a timeline of its steps, without content. */
export function Run({ tenant, run, mayRead }: { tenant: string; run: string; mayRead: boolean }) {
  const path = pathOf(tenant, 'runs', run)
  return (
    <Panel<ShownRun> title="Steps of the run" asked={usePanel(path)} wide isOpened>
      {({ run: { status }, timeline, pending, usage, cost }) => (
        <>
          <p className="quiet">
            <span className={`badge ${status}`}>{status}</span>{' '}
            {usage &&
              `${usage.calls} model ${usage.calls === 1 ? 'call' : 'calls'}, ${usage.inputTokens} tokens in, ${usage.outputTokens} out`}
            {cost !== undefined && `, ${usd(cost)}`}
          </p>
          {pending.map(({ callId, name, expiresAt }) => (
            <p key={callId}>
              Pending decision on <Name of={name} />
              {expiresAt !== undefined && `, until ${timeOf(expiresAt)}`}
            </p>
          ))}
          <Table label="The steps of the run" columns={columns(timeline)} rows={timeline} tall />
          <Changes path={path} status={status} />
          {mayRead && <RunContent path={path} />}
        </>
      )}
    </Panel>
  )
}

function columns(timeline: readonly Entry[]): Column<Entry>[] {
  return [
    { name: 'When', cell: ({ at }) => timeOf(at), isHeader: true },
    { name: 'After', cell: ({ at }, i) => (i === 0 ? '' : ageOf(at - (timeline[i - 1]?.at ?? at))), isNumber: true },
    { name: 'What', cell: (entry) => <Name of={whatOf(entry)} most={160} /> },
    { name: 'Claim', cell: ({ claim }) => claim ?? '', isNumber: true },
    { name: 'Tokens in', cell: ({ spent }) => spent?.inputTokens ?? '', isNumber: true },
    { name: 'Out', cell: ({ spent }) => spent?.outputTokens ?? '', isNumber: true },
    { name: 'Cost', cell: ({ spent }) => (spent?.cost === undefined ? '' : usd(spent.cost)), isNumber: true },
  ]
}

function whatOf({ type, attempt, kind, callId, status, code }: Entry): string {
  if (type === 'claimed') return `a process took it, attempt ${attempt}`
  if (type === 'ended') return [status, code].filter(Boolean).join(': ')
  if (type === 'stop') return 'stop requested'
  return type === 'step' ? [kind, callId].filter(Boolean).join(' ') : type
}

/** Stops a run that is running, or retries one that failed. */
function Changes({ path, status }: { path: string; status: string }) {
  const [problem, setProblem] = useState<string>()
  const refresh = useRefresh()
  const isOpen = status === 'queued' || status === 'running'
  const change = async (what: 'stop' | 'retry') => {
    setProblem(undefined)
    try {
      const { done } = await ask<{ done: boolean }>(`${path}/${what}`, { body: {} })
      if (!done) setProblem('Nothing was changed: the run has ended, or its conversation has changed.')
    } catch (error) {
      setProblem(sentenceOf(error as Error))
    }
    refresh()
  }
  return (
    <div className="decide">
      {isOpen && (
        <button type="button" onClick={() => change('stop')}>
          Stop
        </button>
      )}
      {status === 'failed' && (
        <button type="button" onClick={() => change('retry')}>
          Retry
        </button>
      )}
      {problem && (
        <p className="error-text" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}
