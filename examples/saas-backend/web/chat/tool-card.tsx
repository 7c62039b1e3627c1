import { type DynamicToolUIPart, getToolName, type ToolUIPart } from 'ai'
import { Kept } from './kept.tsx'

export type Decide = (approvalId: string, approved: boolean) => unknown
type Part = ToolUIPart | DynamicToolUIPart

/** A call of a tool: what it was asked, what came of it, and whether it waits for the user. */
export function ToolCard({ part, decide }: { part: Part; decide: Decide }) {
  const name = getToolName(part)
  const { title, tone } = stateOf(part)
  return (
    <section className={`card ${tone}`} aria-label={labels[name] ?? name}>
      <header>
        <strong>{labels[name] ?? name}</strong>
        <span className={`badge ${tone}`}>{title}</span>
      </header>
      <Fields of={part.input} />
      {part.state === 'approval-requested' && (
        <fieldset className="decide">
          <legend className="hidden">Your decision</legend>
          <p>This is what will run. It waits for you.</p>
          <button type="button" className="primary" onClick={() => decide(part.approval.id, true)}>
            Approve
          </button>
          <button type="button" onClick={() => decide(part.approval.id, false)}>
            Deny
          </button>
        </fieldset>
      )}
      {part.state === 'output-available' && <Output text={String(part.output)} />}
      {part.state === 'output-error' && <p className="error-text">{part.errorText}</p>}
    </section>
  )
}

const labels: Record<string, string> = { look_up_order: 'Look up an order', refund: 'Refund' }

function stateOf({ state }: Part): { title: string; tone: string } {
  switch (state) {
    case 'approval-requested':
      return { title: 'waits for you', tone: 'waits' }
    case 'approval-responded':
      return { title: 'decided', tone: 'waits' }
    case 'output-available':
      return { title: 'done', tone: 'done' }
    case 'output-denied':
      return { title: 'denied', tone: 'denied' }
    case 'output-error':
      return { title: 'not done', tone: 'denied' }
    default:
      return { title: 'running', tone: 'running' }
  }
}

function Fields({ of }: { of: unknown }) {
  if (typeof of !== 'object' || of === null) return null
  return (
    <dl>
      {Object.entries(of).map(([name, value]) => (
        <div key={name}>
          <dt>{fieldNames[name] ?? name}</dt>
          <dd>
            <Kept text={name === 'amount' ? `$${value}` : String(value)} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

const fieldNames: Record<string, string> = { orderId: 'Order', amount: 'Amount', notify: 'Tell' }

function Output({ text }: { text: string }) {
  if (!text.startsWith('{'))
    return (
      <p className="output">
        <Kept text={text} />
      </p>
    )
  return (
    <details>
      <summary>What it found</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key */}
      <pre tabIndex={0}>{JSON.stringify(JSON.parse(text), null, 2)}</pre>
    </details>
  )
}
