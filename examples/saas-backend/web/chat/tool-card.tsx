import { type DynamicToolUIPart, getToolName, type ToolUIPart } from 'ai'
import { isDenial } from '../shared/denials.ts'
import { Name } from '../shared/name.tsx'
import { Fields, Output, OutputText, toolLabel } from '../shared/tool-values.tsx'
import { mayApprove } from './decisions.ts'
import { useOriginals } from './use-originals.ts'

export type Decide = (approvalId: string, approved: boolean) => unknown
export type ToolPart = ToolUIPart | DynamicToolUIPart

/** A tool call: its arguments, its result, and whether it waits for a decision. */
export function ToolCard({ part, decide }: { part: ToolPart; decide: Decide }) {
  const label = toolLabel(getToolName(part))
  const { title, tone } = stateOf(part)
  const originals = useOriginals(part)
  return (
    <article className={`card ${tone}`} aria-label={label}>
      <header>
        <strong>
          <Name of={label} />
        </strong>
        <span className={`badge ${tone}`}>{title}</span>
      </header>
      <Fields of={part.input} originals={originals} />
      {part.state === 'approval-requested' && (
        <Decision canApprove={mayApprove(part)} decide={(approved) => decide(part.approval.id, approved)} />
      )}
      {part.state === 'output-available' && <Output value={part.output} originals={originals} />}
      {part.state === 'output-error' && <OutputText text={part.errorText} isError />}
    </article>
  )
}

/** The owner of a conversation may always deny. */
function Decision({ canApprove, decide }: { canApprove: boolean; decide(approved: boolean): unknown }) {
  return (
    <fieldset className="decide">
      <legend className="hidden">Your decision</legend>
      <p>
        {canApprove
          ? 'This call needs your approval.'
          : 'An admin must approve this. The page continues automatically after their decision. You can still deny it.'}
      </p>
      {canApprove && (
        <button type="button" className="primary" onClick={() => decide(true)}>
          Approve
        </button>
      )}
      <button type="button" onClick={() => decide(false)}>
        Deny
      </button>
    </fieldset>
  )
}

function stateOf(part: ToolPart): { title: string; tone: string } {
  switch (part.state) {
    case 'approval-requested':
      return { title: mayApprove(part) ? 'waits for you' : 'waits for an admin', tone: 'waits' }
    case 'approval-responded':
      return { title: part.approval.approved ? 'approved' : 'denied', tone: 'waits' }
    case 'output-available':
      return { title: 'done', tone: 'done' }
    case 'output-denied':
      return { title: 'denied', tone: 'denied' }
    case 'output-error':
      return { title: isDenial(part.errorText) ? 'denied' : 'not done', tone: 'denied' }
    default:
      return { title: 'running', tone: 'running' }
  }
}
