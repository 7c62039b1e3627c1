import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { SessionItem } from '../store/sessions.ts'
import { live } from '../store/store.ts'
import { ApprovalCard } from './approval-card.tsx'
import { type ChatRow, countRows, rowsBetween } from './chat-rows.ts'
import type { ChatTurn } from './chat-turns.ts'
import { Composer } from './composer.tsx'
import { ReadOnlyNotice } from './lazy.tsx'
import { AnswerPart, type TurnActions, TurnFooter, UserMessage } from './turn-view.tsx'
import type { ChatActions } from './use-chat-actions.ts'
import type { LoadedConversation } from './use-conversation.ts'
import { type ChatTarget, useScrollTo } from './use-scroll-to.ts'

export interface ChatProps {
  item: SessionItem | undefined
  loaded: LoadedConversation
  turns: readonly ChatTurn[]
  chat: ChatActions
  target: ChatTarget | undefined
}

/** Most parts of the conversation in the document. */
const windowSize = 100
const windowStep = 50

/** The conversation of a session. */
export function Chat({ item, loaded, turns, chat, target }: ChatProps) {
  const { conversation, loadEarlier } = loaded
  const { actions, send, steer, stop, decide, fault } = chat
  const problem = fault || (conversation.fault ?? '')
  const count = countRows(turns)
  const [back, setBack] = useState(0)
  const end = count - Math.min(back, Math.max(0, count - windowSize))
  const start = Math.max(0, end - windowSize)
  const box = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useLayoutEffect(() => {
    const element = box.current
    if (element !== null && isAtEnd.current && back === 0) element.scrollTop = element.scrollHeight
  })
  useScrollTo(target, { turns, loaded, box, isAtEnd, setBack })
  const onScroll = () => {
    const { scrollTop, clientHeight, scrollHeight } = box.current as HTMLDivElement
    isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 40
  }
  const isRunning = turns.at(-1)?.status === 'running'
  return (
    <section class="chat" aria-label="Conversation">
      <div class="messages" ref={box} onScroll={onScroll} tabIndex={0} role="log" aria-label="Messages">
        {start > 0 && (
          <button type="button" class="quiet more" onClick={() => setBack(back + windowStep)}>
            Show earlier
          </button>
        )}
        {start === 0 && conversation.before !== undefined && (
          <button type="button" class="quiet more" onClick={() => void loadEarlier()}>
            Load earlier turns
          </button>
        )}
        {count === 0 && (
          <p class="empty">{item === undefined ? 'A new session. Ask the agent something.' : 'No turns yet.'}</p>
        )}
        {rowsBetween(turns, start, end).map((row) => (
          <Row key={row.key} row={row} actions={actions} isFound={row.turn.turnId === target?.turnId} />
        ))}
        {end < count && (
          <button type="button" class="quiet more" onClick={() => setBack(Math.max(0, back - windowStep))}>
            Show later
          </button>
        )}
        {!isRunning &&
          conversation.pending.map((call) => <ApprovalCard key={call.callId} call={call} decide={decide} />)}
      </div>
      {problem !== '' && (
        <p class="fault" role="alert">
          {problem}
        </p>
      )}
      {item?.isReadOnly ? (
        <ReadOnlyNotice conversation={conversation} copies={live.status.readOnly?.copies === true} />
      ) : (
        <Composer isRunning={isRunning} send={send} steer={steer} stop={stop} />
      )}
    </section>
  )
}

function Row({ row: { turn, part }, actions, isFound }: { row: ChatRow; actions: TurnActions; isFound: boolean }) {
  if (part === 'input' && turn.input === undefined) return null
  if (typeof part === 'object' && part.kind === 'step') return null
  return (
    <div class={isFound ? 'chat-row found' : 'chat-row'}>
      {part === 'input' && <UserMessage turn={turn} actions={actions} />}
      {part === 'end' && <TurnFooter turn={turn} actions={actions} />}
      {typeof part === 'object' && <AnswerPart item={part} turn={turn} actions={actions} />}
    </div>
  )
}
