import type { SessionUsageView } from '@allium/server/inspect'
import { useEffect, useState } from 'preact/hooks'
import type { FeedbackItem } from '../../src/child/feedback-route.ts'
import { api, type Identity } from '../store/api.ts'
import type { Conversation, SessionItem } from '../store/sessions.ts'
import type { Turn } from '../store/trace.ts'
import { totalOf, type UsageRow, usageBySession, usageByTurn } from '../store/usage.ts'
import { Bars } from './bars.tsx'
import { money, pretty } from './format.ts'
import { feedbackText, scoreText, useFeedback } from './use-feedback.ts'

interface UsagePanelProps {
  item: SessionItem | undefined
  conversation: Conversation
  turns: readonly Turn[]
  identity: Identity
}

const groups = ['Turns of this session', 'Sessions'] as const

/** The tokens and the cost of each turn of the session, or of each session, as plots and as a table. */
export function UsagePanel({ item, conversation, turns, identity }: UsagePanelProps) {
  const [group, setGroup] = useState<(typeof groups)[number]>(groups[0])
  const sessions = useSessionUsage(group === 'Sessions', identity, turns)
  const feedback = useFeedback(item, turns.length)
  const rows = group === 'Sessions' ? usageBySession(sessions) : usageByTurn(conversation, turns)
  return (
    <div class="panel-body">
      <div class="toolbar">
        <label>
          By{' '}
          <select value={group} onChange={({ currentTarget }) => setGroup(currentTarget.value as typeof group)}>
            {groups.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      </div>
      {rows.length === 0 ? (
        <p class="empty">
          {group === 'Sessions' ? 'No session has totals. They come from the layer observe.usage().' : 'No turns yet.'}
        </p>
      ) : (
        <div class="scrolls" tabIndex={0} role="group" aria-label="Usage">
          <Plots rows={rows} />
          <UsageTable rows={rows} {...(group !== 'Sessions' && { feedback })} />
          {group !== 'Sessions' && <FeedbackList rows={rows} feedback={feedback} />}
        </div>
      )}
    </div>
  )
}

function Plots({ rows }: { rows: readonly UsageRow[] }) {
  const total = totalOf(rows)
  return (
    <>
      <h2>Tokens</h2>
      <Bars
        label={`Tokens: ${count(total.input)} in and ${count(total.output)} out in all`}
        bars={rows.map(({ name, input, output }) => ({ name, values: [input, output] }))}
        series={[
          { name: 'input', kind: 'input' },
          { name: 'output', kind: 'output' },
        ]}
        format={count}
      />
      {total.cost !== undefined && (
        <>
          <h2>Cost</h2>
          <Bars
            label={`Cost: ${money(total.cost)} in all`}
            bars={rows.map(({ name, cost = 0 }) => ({ name, values: [cost] }))}
            series={[{ name: 'USD', kind: 'cost' }]}
            format={money}
          />
        </>
      )}
    </>
  )
}

/** @param feedback on the turns; undefined if the rows are sessions */
function UsageTable({ rows, feedback }: { rows: readonly UsageRow[]; feedback?: readonly FeedbackItem[] }) {
  const total = totalOf(rows)
  const titles = [feedback === undefined ? 'Session' : 'Turn', 'Calls', 'Input', 'Output', 'USD']
  return (
    <table>
      <caption>Tokens and cost in numbers</caption>
      <thead>
        <tr>
          {[...titles, ...(feedback === undefined ? [] : ['Feedback'])].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {[...rows, total].map(({ name, turnId, input, output, calls, cost, isIncomplete }, index) => (
          <tr key={index} class={index === rows.length ? 'total' : ''}>
            <th scope="row">{name}</th>
            <td>{count(calls)}</td>
            <td>{count(input)}</td>
            <td>{count(output)}</td>
            <td>{cost === undefined ? 'unknown' : `${isIncomplete ? 'at least ' : ''}${money(cost)}`}</td>
            {feedback !== undefined && <td>{feedbackText(feedback, turnId)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The scores, comments and tags of people, newest first. */
function FeedbackList({ rows, feedback }: { rows: readonly UsageRow[]; feedback: readonly FeedbackItem[] }) {
  const nameOf = (turnId: string) => rows.find((row) => row.turnId === turnId)?.name ?? 'An earlier turn'
  if (feedback.length === 0) return null
  return (
    <>
      <h2>Feedback</h2>
      <ul class="gates" aria-label="Feedback">
        {feedback.map(({ turnId, by, score, comment, tags = [] }) => (
          <li key={`${turnId} ${by}`}>
            <strong>{nameOf(turnId)}</strong> {`${scoreText(score)} by ${pretty(by)}`}
            {tags.length > 0 && <span class="subject">{` ${pretty(tags.join(', '))}`}</span>}
            {comment !== undefined && <div class="text">{pretty(comment)}</div>}
          </li>
        ))}
      </ul>
    </>
  )
}

/** Loads the usage of the sessions while it is shown, and again when a turn ends. */
function useSessionUsage(isShown: boolean, identity: Identity, turns: readonly Turn[]): readonly SessionUsageView[] {
  const [sessions, setSessions] = useState<SessionUsageView[]>([])
  const ended = turns.filter(({ status }) => status !== 'running').length
  useEffect(() => {
    if (!isShown) return
    api<{ sessions: SessionUsageView[] }>('/inspect/usage', identity).then(
      ({ sessions }) => setSessions(sessions),
      () => setSessions([]),
    )
  }, [isShown, ended, JSON.stringify(identity)])
  return sessions
}

function count(value: number): string {
  return value.toLocaleString()
}
