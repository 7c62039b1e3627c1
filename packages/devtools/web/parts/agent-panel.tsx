import { useEffect, useState } from 'preact/hooks'
import { api, type Identity } from '../store/api.ts'
import { live } from '../store/store.ts'
import { pretty } from './format.ts'

interface Inspection {
  agent: string
  layers: Layer[]
  scopes: Record<string, string[]>
  tools: { name: string; description?: string }[]
  approvers: string
  findings: Finding[]
  /** The agents of a group. */
  agents?: Inspection[]
}

interface Layer {
  name: string
  scopes: string[]
  order: { is?: string[] }
  state: string[]
  tools: string[]
  options: Record<string, unknown>
  place?: string
}

interface Finding {
  severity: 'error' | 'warn'
  layers: string[]
  message: string
}

/** The agent itself, or the agents of a group: the layers with the findings of `check()`, and the tools. */
export function AgentPanel({ identity }: { identity: Identity }) {
  const [inspection, setInspection] = useState<Inspection>()
  useEffect(() => {
    api<Inspection>('/inspect', identity).then(setInspection, () => {})
  }, [live.status.at])
  if (inspection === undefined) return <p class="empty">The agent is loading.</p>
  return (
    <div class="panel-body scrolls" tabIndex={0} role="group" aria-label="Agent">
      {(inspection.agents ?? [inspection]).slice(0, 50).map((one) => (
        <Inspected key={one.agent} {...one} />
      ))}
    </div>
  )
}

function Inspected({ layers, tools, findings, scopes, agent, approvers }: Inspection) {
  const others = findings.filter((finding) => !layers.some(({ name }) => finding.layers.includes(name)))
  return (
    <>
      <h2>{`${agent}: ${layers.length} layers`}</h2>
      <p>
        {approvers === 'owner'
          ? 'The owner of a session decides its approvals.'
          : 'The rule canApprove selects the approvers.'}
      </p>
      {findings.length === 0 && <p>check() has no findings.</p>}
      <FindingList findings={others} />
      <ol class="layers">
        {layers.slice(0, 100).map((layer) => (
          <li key={layer.name}>
            <strong>{layer.name}</strong>{' '}
            {layer.scopes.map((scope) => (
              <span key={scope} class={`scope ${scope}`}>
                {scope}
              </span>
            ))}
            {layer.order.is !== undefined && <span class="subject">{layer.order.is.join(', ')}</span>}
            {layer.place !== undefined && <code class="place">{lineOf(layer.place)}</code>}
            {Object.keys(layer.options).length > 0 && (
              <div class="subject">{`Options: ${optionsText(layer.options)}`}</div>
            )}
            {layer.state.length > 0 && <div class="subject">{`State: ${layer.state.join(', ')}`}</div>}
            {layer.tools.length > 0 && <div class="subject">{`Tools: ${layer.tools.join(', ')}`}</div>}
            <FindingList findings={findings.filter((finding) => finding.layers[0] === layer.name)} />
          </li>
        ))}
      </ol>
      <h2>Order in each scope, outermost first</h2>
      <dl>
        {Object.entries(scopes).map(([scope, names]) => [
          <dt key={scope}>{scope}</dt>,
          <dd key={`${scope} names`}>{names.join(' → ') || 'none'}</dd>,
        ])}
      </dl>
      <h2>{`${tools.length} tools`}</h2>
      {tools.slice(0, 100).map(({ name, description = '', ...rest }) => (
        <details key={name} class="card">
          <summary>
            <span class="tool-name">{name}</span> {description}
          </summary>
          <pre>{pretty(rest)}</pre>
        </details>
      ))}
    </>
  )
}

/** The file and line of a stack frame, such as `agent.ts:12`. */
function lineOf(frame: string): string {
  return /[^/\\(\s]+:\d+(?=:\d+\)?$)/.exec(frame)?.[0] ?? frame
}

function optionsText(options: Record<string, unknown>): string {
  const given = Object.entries(options).map(([name, value]) => `${name} ${JSON.stringify(value)}`)
  return given.join(', ')
}

function FindingList({ findings }: { findings: readonly Finding[] }) {
  return (
    <>
      {findings.map(({ severity, message }) => (
        <p key={message} class={`finding ${severity}`}>
          {message}
        </p>
      ))}
    </>
  )
}
