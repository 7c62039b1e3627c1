import { useState } from 'preact/hooks'
import type { ReplayChange, ReplayView } from '../../src/replay-change.ts'
import type { ChatTurn } from '../parts/chat-turns.ts'
import { brief, pretty } from '../parts/format.ts'
import type { Identity } from '../store/api.ts'
import { devApi } from '../store/dev-api.ts'
import type { SessionItem } from '../store/sessions.ts'
import { ChangeFields } from './change-fields.tsx'
import { ReplayResult } from './replay-result.tsx'

interface ReplayPanelProps {
  item: SessionItem | undefined
  turns: readonly ChatTurn[]
  identity: Identity
  /** The turn that the user chose; otherwise the last one. */
  chosen: string | undefined
  choose(turnId: string): void
}

/** Replays a recorded turn with a change: a layer off, a layer elsewhere, another agent of the file, or the files as they are now. */
export function ReplayPanel({ item, turns, identity, chosen, choose }: ReplayPanelProps) {
  const [change, setChange] = useState<ReplayChange>({ kind: 'none' })
  const [state, setState] = useState<{ view?: ReplayView; fault?: string; isRunning?: boolean }>({})
  const ended = turns.filter(({ status }) => status !== 'running' && status !== 'copied')
  const turn = ended.find(({ turnId }) => turnId === chosen) ?? ended.at(-1)
  if (item === undefined || item.isReadOnly || turn === undefined)
    return <p class="empty">A turn of the inspector can be replayed here with a change, as soon as it has ended.</p>

  const replay = async (event: Event) => {
    event.preventDefault()
    setState({ isRunning: true })
    const { tenant, owner, id: sessionId } = item
    const request = { tenant, owner, sessionId, turnId: turn.turnId, change }
    setState(
      await devApi<ReplayView>('/replay', request).then(
        (view) => ({ view }),
        ({ message }: Error) => ({ fault: message }),
      ),
    )
  }
  return (
    <div class="panel-body">
      <form class="toolbar" onSubmit={(event) => void replay(event)}>
        <label>
          Turn{' '}
          <select
            value={turn.turnId}
            onChange={({ currentTarget }) => {
              choose(currentTarget.value)
              setState({})
            }}
          >
            {ended.slice(-50).map(({ turnId, input, status }) => (
              <option key={turnId} value={turnId}>{`${brief(input ?? 'resumed', 30)} · ${status}`}</option>
            ))}
          </select>
        </label>
        <ChangeFields change={change} setChange={setChange} identity={identity} />
        <button type="submit" class="primary" disabled={state.isRunning}>
          Replay
        </button>
      </form>
      <div class="scrolls" tabIndex={0} role="group" aria-label="Replay">
        <p class="subject">
          Models and tools answer from the recording: no model is called, and no tool runs. The layers run, from the
          files as they are now. To try an option, save it in the file, or export an agent with it.
        </p>
        <p role="status">{state.isRunning ? 'Replaying …' : state.view !== undefined ? verdictOf(state.view) : ''}</p>
        {state.fault !== undefined && <p role="alert">{pretty(state.fault)}</p>}
        {state.view !== undefined && <ReplayResult view={state.view} />}
      </div>
    </div>
  )
}

function verdictOf({ verdict, reason }: ReplayView): string {
  if (verdict === 'same') return 'The same: outcome and decisions are those of the recorded turn.'
  if (verdict === 'different') return 'Different: the outcome or a decision changed.'
  return `Not replayable: ${pretty(reason ?? 'unknown')}`
}
