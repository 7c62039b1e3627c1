import type { ChangeRecord } from '@allium/server/inspect'
import type { Span, Turn } from '../store/trace.ts'
import { duration, money, pretty, tokens } from './format.ts'
import { RequestView } from './request-view.tsx'

/** Shows the decision of a layer, its changes, its writes to the state, and the request and answer of a model. */
export function SpanDetails({ turn, span, close }: { turn: Turn; span: Span; close(): void }) {
  const {
    layer,
    scope,
    subject,
    self,
    duration: whole,
    entered,
    decision,
    detail,
    changes,
    changed,
    writes,
    response,
    usd,
    error,
  } = span
  const tool = span.callId === undefined || !span.core ? undefined : callOf(turn, span.callId)
  return (
    <section class="details" aria-label={`Details of ${layer}`}>
      <header>
        <h2>{layer}</h2>
        <span class={`badge ${decision ?? 'running'}`}>{decision ?? 'running'}</span>
        <button type="button" class="quiet" onClick={close}>
          Close
        </button>
      </header>
      <div class="details-body" tabIndex={0} role="group" aria-label="Details">
        <dl>
          <dt>Scope</dt>
          <dd>{subject === undefined ? scope : `${scope} ${subject}`}</dd>
          <dt>Time</dt>
          <dd>{`${duration(self)} of its own, ${duration(whole)} in all`}</dd>
          {!span.core && <dt>next()</dt>}
          {!span.core && (
            <dd>{entered === undefined ? '…' : entered === 1 ? 'called once' : `called ${entered} times`}</dd>
          )}
          {detail !== undefined && <dt>Reason</dt>}
          {detail !== undefined && <dd>{detail}</dd>}
          {usd !== undefined && <dt>Cost</dt>}
          {usd !== undefined && <dd>{money(usd)}</dd>}
        </dl>
        {changed?.map(({ field, note }) => (
          <p key={field}>{`Changed ${field}${note === undefined ? '' : `: ${note}`}`}</p>
        ))}
        {changes?.map((change, index) => (
          <Change key={index} change={change} />
        ))}
        {writes?.map(({ key, value }, index) => (
          <Block key={index} title={`State ${key}`} text={pretty(value)} />
        ))}
        {tool !== undefined && <Block title="Arguments" text={pretty(tool.args)} />}
        {tool?.result !== undefined && <Block title="Result" text={tool.result} />}
        {error !== undefined && <Block title={thrown} text={error} />}
        {response !== undefined && (
          <Block title={`Answer (${response.finishReason}, ${tokens(response.usage)})`} text={response.text} />
        )}
        {response?.reasoning !== undefined && <Block title="Reasoning" text={response.reasoning} />}
        {response !== undefined && response.toolCalls.length > 0 && (
          <Block title="Tool calls" text={pretty(response.toolCalls)} />
        )}
        {span.request !== undefined && <RequestView turn={turn} index={span.request} />}
      </div>
    </section>
  )
}

/** The title of the error of a tool. */
export const thrown = 'Error of the tool. The model does not receive it'

function Change({ change: { field, at, before, after } }: { change: ChangeRecord }) {
  return (
    <div class="change">
      <div class="label">{at === undefined ? field : `${field}, from ${at}`}</div>
      {!isEmpty(before) && <pre class="removed">{pretty(before)}</pre>}
      {!isEmpty(after) && <pre class="added">{pretty(after)}</pre>}
    </div>
  )
}

export function Block({ title, text }: { title: string; text: string }) {
  return (
    <div class="block">
      <div class="label">{title}</div>
      <pre>{text}</pre>
    </div>
  )
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0)
}

function callOf({ answer }: Turn, callId: string) {
  for (const item of answer) if (item.kind === 'tool' && item.callId === callId) return item
  return undefined
}
