import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { AnswerItem } from '../store/answer.ts'
import { cacheBreaksOf } from '../store/cache-breaks.ts'
import { copied } from '../store/copied-turns.ts'
import { live } from '../store/store.ts'
import type { ChatTurn } from './chat-turns.ts'
import { FileView } from './file-view.tsx'
import { duration, money, tokens } from './format.ts'
import { ToolCard } from './tool-card.tsx'

export interface TurnActions {
  /** Forks the session before this turn, and runs the edited text there. */
  editAndRun(turn: ChatTurn, text: string): Promise<void>
  fork(turn: ChatTurn): Promise<void>
  /** Whether the session can be forked or copied. */
  canFork: boolean
  inspect(turnId: string): void
  /** Opens the view that replays a turn. Absent for sessions of the agent's own store. */
  replay?(turnId: string): void
  /** Opens the dialog that saves a turn as a case of evals. Absent for sessions of the agent's own store, whose content stays there. */
  saveCase?(turn: ChatTurn): void
  steerText(id: string): string | undefined
}

/** The message of the user, with an editor to run it again. */
export function UserMessage({ turn, actions }: { turn: ChatTurn; actions: TurnActions }) {
  const [draft, setDraft] = useState<string>()
  if (draft !== undefined)
    return (
      <form
        class="message user editing"
        onSubmit={(event) => {
          event.preventDefault()
          void actions.editAndRun(turn, draft).then(() => setDraft(undefined))
        }}
      >
        <textarea
          aria-label="Edited message"
          rows={3}
          value={draft}
          onInput={({ currentTarget }) => setDraft(currentTarget.value)}
        />
        <div class="row">
          <button type="submit" class="primary">
            Run in a fork
          </button>
          <button type="button" onClick={() => setDraft(undefined)}>
            Cancel
          </button>
        </div>
      </form>
    )
  return (
    <div class="message user">
      {turn.input !== '' && <div class="text">{turn.input}</div>}
      {turn.files.map((file, index) => (
        <FileView key={index} file={file} />
      ))}
      {actions.canFork && turn.status !== copied && (
        <button type="button" class="quiet" onClick={() => setDraft(turn.input)}>
          Edit and run again
        </button>
      )}
    </div>
  )
}

export interface AnswerPartProps {
  item: AnswerItem
  turn: ChatTurn
  actions: TurnActions
}

export function AnswerPart({ item, turn, actions }: AnswerPartProps): ComponentChildren {
  if (item.kind === 'tool') return <ToolCard tool={item} error={turn.live?.errors.get(item.callId)} />
  if (item.kind === 'steer')
    return (
      <div class="message user steer">
        <div class="text">{actions.steerText(item.id) ?? item.id}</div>
        <small>{`sent during the turn: ${item.outcome}`}</small>
      </div>
    )
  if (item.kind === 'step') return null
  if (item.kind === 'file') return <FileView file={item.file} />
  if (item.kind === 'reasoning')
    return (
      <details class="message reasoning">
        <summary>Reasoning</summary>
        <div class="text">{item.text}</div>
      </details>
    )
  return (
    <div class="message assistant">
      <div class="text">{item.text}</div>
    </div>
  )
}

/** The end of a turn: its status, usage and cost. */
export function TurnFooter({ turn, actions }: { turn: ChatTurn; actions: TurnActions }) {
  const { agent, status, reason, live: trace, turnId, isStored, duration: time, usage, usd = 0 } = turn
  return (
    <footer class="turn-footer">
      <span class={`badge ${status}`}>{status}</span>
      {agent !== live.status.agent && <span>{agent}</span>}
      {reason !== undefined && reason !== '' && <span class="reason">{reason}</span>}
      {time !== undefined && <span>{duration(time)}</span>}
      {usage !== undefined && <span>{tokens(usage)}</span>}
      {usd > 0 && <span>{money(usd)}</span>}
      {trace !== undefined &&
        cacheBreaksOf(trace, money).map((line) => (
          <span key={line} class="cache-break">
            {line}
          </span>
        ))}
      {trace !== undefined && (
        <button type="button" class="quiet" onClick={() => actions.inspect(turnId)}>
          Onion
        </button>
      )}
      {status !== 'running' && status !== copied && actions.replay !== undefined && (
        <button type="button" class="quiet" onClick={() => actions.replay?.(turnId)}>
          Replay
        </button>
      )}
      {turn.input !== undefined && status !== 'running' && status !== copied && actions.saveCase !== undefined && (
        <button type="button" class="quiet" onClick={() => actions.saveCase?.(turn)}>
          Save as eval case
        </button>
      )}
      {isStored && actions.canFork && (
        <button type="button" class="quiet" onClick={() => void actions.fork(turn)}>
          Fork
        </button>
      )}
    </footer>
  )
}
