/** A bug to plant: texts of a file, each with what stands in its place. */
export interface Plant {
  readonly breaks: string
  readonly edits: readonly (readonly [file: string, from: string, to: string])[]
}

const flow = 'guard/src/flow.ts'
const scan = 'guard/src/flow/label-scanner.ts'
const addresses = 'guard/src/flow/addresses.ts'
const answers = 'guard/src/flow/json-answer.ts'
const lines = 'guard/src/flow/line-cleaner.ts'
const markup = 'guard/src/flow/markup.ts'
const unlinked = 'guard/src/flow/link-filter.ts'

export const plants: readonly Plant[] = [
  {
    breaks: 'labels are not persisted',
    edits: [
      [flow, 'default: null, reducer', 'default: null, persist: false, reducer'],
      [flow, "isUnlabelled && unlabelled === 'untrusted'", 'isUnlabelled && false'],
    ],
  },
  {
    breaks: 'labels last for a turn',
    edits: [
      [flow, 'default: null, reducer', "default: null, scope: 'turn', reducer"],
      [flow, "isUnlabelled && unlabelled === 'untrusted'", 'isUnlabelled && false'],
    ],
  },
  { breaks: 'sub-agents do not inherit it', edits: [[flow, 'inherit: true', 'inherit: false']] },
  {
    breaks: 'a call counts with what its siblings have brought',
    edits: [[flow, 'callLabels.get(ctx.metadata)?.get(ctx.callId) ?? labelsOfCall(ctx)', 'labelsOfCall(ctx)']],
  },
  {
    breaks: 'a call that no model call of this turn made counts with nothing',
    edits: [
      [
        flow,
        'callLabels.get(ctx.metadata)?.get(ctx.callId) ?? labelsOfCall(ctx)',
        'callLabels.get(ctx.metadata)?.get(ctx.callId) ?? {}',
      ],
    ],
  },
  {
    breaks: 'errors of tools are not labelled',
    edits: [
      [
        flow,
        'const { name } = ctx.tool\n    const toolFlow',
        "if (result.status === 'error') return result\n    const { name } = ctx.tool\n    const toolFlow",
      ],
      [scan, 'if (missing === true', 'if (isError === true || missing === true'],
    ],
  },
  {
    breaks: 'what the provider brings into an answer does not count for its calls',
    edits: [[flow, 'addLabels(ctx, labelsOfMessage(response.message, plan), known)', 'known']],
  },
  {
    breaks: 'results that a layer gave are not labelled',
    edits: [[flow, 'const found = scanner.labelsOf(ctx.request.messages, plan)', 'const found = {}']],
  },
  {
    breaks: 'files are the principal’s',
    edits: [[scan, "return type === 'file' || type === 'image'", 'return false && type']],
  },
  {
    breaks: 'given answers are the principal’s',
    edits: [
      [
        flow,
        "if (role === 'assistant' || role === 'tool') addLabels(ctx, { untrusted: { kind: 'input' } })",
        "if (role === 'tool') addLabels(ctx, { untrusted: { kind: 'input' } })",
      ],
    ],
  },
  {
    breaks: 'a history without labels is trusted',
    edits: [[flow, "isUnlabelled && unlabelled === 'untrusted'", 'isUnlabelled && false']],
  },
  {
    breaks: 'a history that was put in the place of another is not seen',
    edits: [
      [
        flow,
        'knownLabels.has(labels) && isReplacedHistory(history)',
        'false && knownLabels.has(labels) && isReplacedHistory(history)',
      ],
    ],
  },
  {
    breaks: 'what a result says of itself is not heard',
    edits: [
      [flow, ': declared, result.flow)', ': declared, {})'],
      [scan, 'flow ?? plan.flowOf(name)', 'plan.flowOf(name)'],
    ],
  },
  {
    breaks: 'a cached result of a sub-agent counts as one that ran',
    edits: [[flow, "isHandoff && result.status === 'skipped' ? toolFlow : declared", 'declared']],
  },
  {
    breaks: 'a changed listing is not heard of',
    edits: [[flow, "return { untrusted: { kind: 'listing', tool: name } }", 'return {}']],
  },
  {
    breaks: 'an approval that another layer asked for counts',
    edits: [[flow, 'ctx.approvalRequest?.by === as ? ctx.approval : undefined', 'ctx.approval']],
  },
  {
    breaks: 'the first source is lost to the last',
    edits: [
      [
        'guard/src/flow/labels.ts',
        'return { ...more, ...first }',
        'return { ...(more.untrusted && { untrusted: more.untrusted }), ...(first.private && { private: first.private }) }',
      ],
    ],
  },
  {
    breaks: 'MCP tools do not send',
    edits: [['tools/src/mcp/toolbox.ts', 'untrusted: true, sends: true', 'untrusted: true, sends: false']],
  },
  {
    breaks: 'tools.http does not send',
    edits: [['tools/src/http.ts', '{ untrusted: true, sends: true }', '{ untrusted: true }']],
  },
  { breaks: 'writes pass', edits: [['guard/src/flow/sinks.ts', 'writes: writes === true', 'writes: false && writes']] },
  {
    breaks: 'thoughts keep their links',
    edits: [
      [unlinked, "chunk.type === 'text-delta' || chunk.type === 'reasoning-delta'", "chunk.type === 'text-delta'"],
    ],
  },
  {
    breaks: 'what the answer’s tool gets keeps its links',
    edits: [[answers, "chunk.type === 'tool-input-start' && chunk.name === this.#tool", 'false && this.#tool']],
  },
  {
    breaks: 'text leaves before its line is whole',
    edits: [
      [
        lines,
        'const [pieces, rest] = this.#splitLongLine(this.#buffer.slice(from))',
        "const [pieces, rest] = [this.#buffer.slice(from), '']",
      ],
    ],
  },
  {
    breaks: 'where a Markdown link leads to is not looked at',
    edits: [[markup, "next === '(' &&", "next === '(' && false &&"]],
  },
  {
    breaks: 'what a definition leads to is not looked at',
    edits: [[markup, "next === ':' &&", "next === ':' && false &&"]],
  },
  {
    breaks: 'addresses written with entities pass',
    edits: [['guard/src/flow/entities.ts', 'harmless.has(name) ?', 'harmless.has(name) || true ?']],
  },
  {
    breaks: 'addresses that stand by themselves pass',
    edits: [[addresses, 'candidateSign.test(token) ? cleanWord(token, isAllowedHost) : token', 'token']],
  },
  {
    breaks: 'tags keep what they carry',
    edits: [[markup, '&lt;`', '<`']],
  },
]
