import type { ChatTurn } from '../parts/chat-turns.ts'
import { pretty } from '../parts/format.ts'
import type { SessionItem } from '../store/sessions.ts'
import type { Turn } from '../store/trace.ts'
import { Passage } from './passage.tsx'
import { recallsOf, type TurnRecall } from './recalls.ts'
import { useRecall } from './use-recall.ts'

export interface RecallPanelProps {
  item: SessionItem | undefined
  turns: readonly Turn[]
  chat: readonly ChatTurn[]
  chosen: string | undefined
  choose(turnId: string): void
  /** Opens a session of the same person at a turn. */
  open(sessionId: string, turnId: string): void
}

/** What the turns of a session recalled from other conversations: from where, and why. */
export function RecallPanel({ item, turns, chat, chosen, choose, open }: RecallPanelProps) {
  const inputs = new Map(chat.map(({ turnId, input }) => [turnId, input]))
  const recalling = turns.slice(-200).flatMap(({ turnId, info, events }) => {
    const recalls = recallsOf({ events }, inputs.get(turnId))
    return recalls.length === 0 ? [] : [{ turnId, title: `${(info?.turnIndex ?? 0) + 1}`, recalls }]
  })
  const turn = recalling.find(({ turnId }) => turnId === chosen) ?? recalling.at(-1)
  if (item === undefined || turn === undefined) return <p class="empty">{emptyText(item)}</p>
  return (
    <div class="panel-body">
      <div class="toolbar">
        <label>
          Turn{' '}
          <select value={turn.turnId} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            {recalling.slice(-50).map(({ turnId, title }) => (
              <option key={turnId} value={turnId}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </div>
      <div class="scrolls" tabIndex={0} role="group" aria-label="Recall">
        {turn.recalls.slice(0, 50).map((recall, index) => (
          <Recall key={`${turn.turnId} ${index}`} item={item} recall={recall} open={open} />
        ))}
      </div>
    </div>
  )
}

function emptyText(item: SessionItem | undefined): string {
  if (item?.isReadOnly === true) return "What sessions of the agent's own store recalled is not known here."
  return 'No turn of this session has recalled anything since the agent started. The layer memory.recall() recalls from earlier conversations.'
}

interface RecallProps extends Pick<RecallPanelProps, 'open'> {
  item: SessionItem
  recall: TurnRecall
}

function Recall({ item, recall, open }: RecallProps) {
  const { view, fault } = useRecall(item, recall)
  const { question, labels, layer } = recall
  return (
    <section class="recall" aria-label="A question and what it recalled">
      <h2 class="text">{pretty(question) || 'No question is known.'}</h2>
      <div class="row">
        <span class="subject">{pretty(layer)}</span>
        {view !== undefined && <span class="subject">{`looked for: ${view.asked.join(', ') || 'nothing'}`}</span>}
        {labels.map((label) => (
          <span key={label} class={`badge ${label}`}>
            {label}
          </span>
        ))}
      </div>
      {fault !== undefined && <p role="alert">{fault}</p>}
      {view?.isOff && <p class="notice">Memory is switched off for this person, or they were erased.</p>}
      {view !== undefined && view.passages.length === 0 && <p class="empty">Nothing was recalled.</p>}
      <ol class="passages">
        {view?.passages.map((one, index) => (
          <Passage key={index} item={one} open={() => open(one.sessionId, one.turnId)} />
        ))}
      </ol>
    </section>
  )
}
