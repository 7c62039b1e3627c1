/** Texts that look like credentials. Each pattern takes time linear in the text: what repeats is bounded, or cannot begin anew within its own run. */
const patterns: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-{1,4}[^-]+)*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
  // JSON Web Tokens
  /(?<![\w-])eyJ[\w-]{8,2000}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  // OpenAI, Anthropic, Stripe, Google, GitHub, GitLab, Slack, AWS, Groq, xAI, Hugging Face, npm
  /(?<![A-Za-z0-9])(?:sk-[\w-]{16,}|[rs]k_(?:live|test)_\w{10,}|AIza[\w-]{30,}|(?:gh[a-z]_|github_pat_)\w{20,}|glpat-[\w-]{16,})/g,
  /(?<![A-Za-z0-9])(?:x(?:ox[a-z]|app)-[A-Za-z0-9-]{10,}|A(?:KIA|SIA)[A-Z0-9]{16}|(?:gsk_|xai-|hf_|npm_)[A-Za-z0-9]{20,})/g,
  // The scheme of a header stays. A digit within reach tells a token from a sentence about bearers.
  /\b((?:[Bb]earer|BEARER)[ \t]{1,4})(?=[A-Za-z._~+/=-]{0,64}[0-9])[\w.~+/=-]{8,}/g,
  // The password of a URL, such as that of a database
  /(:\/\/[^\s/@:"]{0,64}:)[^\s/@"]{1,256}(?=@)/g,
]

/** What every one of them begins with: most texts hold none, and need one search alone. */
const beginnings =
  /-----BEGIN|eyJ|sk-|[rs]k_|AIza|gh[a-z]_|github_pat_|glpat-|x(?:ox|app)|A(?:KIA|SIA)|gsk_|xai-|hf_|npm_|[Bb]earer|BEARER|:\/\//

export function withoutSecrets(text: string): string {
  if (!beginnings.test(text)) return text
  return patterns.reduce(
    (rest, pattern) => rest.replace(pattern, (_, kept) => (typeof kept === 'string' ? `${kept}[hidden]` : '[hidden]')),
    text,
  )
}

/** Whether a setting, a header or a field of this name holds a credential. */
export function isSecretName(name: string): boolean {
  return /(?:authorization|cookie|passw(?:or)?d|secret|credentials?|(?:api|private|access)[-_]?key|token)$/i.test(name)
}
