/**
 * The formats of vendors' keys: prefix, remainder, and minimum entropy.
 *
 * Sources: the rules for single vendors of gitleaks 8.30 (config/gitleaks.toml, MIT), and the documentation of vendors that it
 * lacks. Lengths are lower bounds for vendors that have changed them before.
 */
export interface KeyRule {
  readonly vendor: string
  readonly begins: readonly string[]
  /** The part after the prefix. If a letter or digit follows it directly, it is not a key. */
  readonly rest: RegExp
  /** The minimum Shannon entropy in bits per character. @default 2.5 */
  readonly entropy?: number
  /** Requires a digit, because a word may have the same format. */
  readonly digit?: boolean
}

const rule = (
  vendor: string,
  begins: string,
  rest: RegExp,
  more: Pick<KeyRule, 'entropy' | 'digit'> = {},
): KeyRule => ({
  vendor,
  begins: begins.split(' '),
  rest,
  ...more,
})

/** Longer prefixes come first if one begins with another. */
export const keyRules: readonly KeyRule[] = [
  rule('1Password', 'A3-', /[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}/y),
  rule('1Password', 'ops_eyJ', /[A-Za-z0-9+/]{250,4000}={0,3}/y),
  rule('Adobe', 'p8e-', /[A-Za-z0-9]{32}/y),
  rule('age', 'AGE-SECRET-KEY-1', /[A-Z0-9]{58}/y),
  rule('Airtable', 'pat', /[A-Za-z0-9]{14}\.[a-f0-9]{64}/y),
  rule('Alibaba', 'LTAI', /[A-Za-z0-9]{20}/y),
  rule('Artifactory', 'AKCp', /[A-Za-z0-9]{69}/y),
  rule('Artifactory', 'cmVmd', /[A-Za-z0-9]{59}/y),
  rule('Atlassian', 'ATATT3', /[\w=-]{186}/y),
  rule('AWS', 'AKIA ASIA ABIA ACCA', /[A-Z0-9]{16}/y),
  rule('AWS', 'A3T', /[A-Z0-9]{17}/y, { digit: true }),
  rule('AWS', 'ABSK', /[A-Za-z0-9+/]{109,269}={0,2}/y),
  rule('ClickHouse', '4b1d', /[A-Za-z0-9]{38}/y),
  rule('Clojars', 'CLOJARS_ clojars_', /[A-Za-z0-9]{60}/y),
  rule('Cloudflare', 'v1.0-', /[a-f0-9]{24}-[a-f0-9]{146}/y),
  rule('Databricks', 'dapi', /[a-f0-9]{32}(?:-\d)?/y),
  rule('DigitalOcean', 'doo_v1_ dop_v1_ dor_v1_', /[A-Fa-f0-9]{64}/y),
  rule('Docker', 'dckr_pat_ dckr_oat_', /[\w-]{27,40}/y),
  rule('Doppler', 'dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.', /(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}/y),
  rule('Duffel', 'duffel_test_ duffel_live_', /[\w=-]{43}/y),
  rule('Dynatrace', 'dt0c01.', /[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}/y),
  rule('EasyPost', 'EZAK EZTK', /[A-Za-z0-9]{54}/y),
  rule('Facebook', 'EAAM EAAC', /[A-Za-z0-9]{100,400}/y),
  rule('Figma', 'figd_', /[\w-]{38,50}/y),
  rule('Flutterwave', 'FLWSECK_TEST- FLWPUBK_TEST- FLWSECK- FLWPUBK-', /[A-Za-z0-9]{32}-X|[A-Za-z0-9]{12}/y),
  rule('Fly.io', 'fo1_', /[\w-]{43}/y),
  rule('Fly.io', 'fm1a_ fm1r_ fm2_', /[A-Za-z0-9+/]{100,4000}={0,3}/y),
  rule('Frame.io', 'fio-u-', /[\w=-]{64}/y),
  rule('GitHub', 'ghp_ gho_ ghu_ ghs_ ghr_', /[A-Za-z0-9]{20,255}/y),
  rule('GitHub', 'github_pat_', /\w{20,255}/y, { digit: true }),
  rule(
    'GitLab',
    'glpat- gldt- glrt- glft- glffct- glsoat- glimt- glagent- gloas- glptt-',
    /[\w-]{16,300}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7})?/y,
  ),
  rule('GitLab', 'glcbt-', /[A-Za-z0-9]{1,5}_[\w-]{20}/y),
  rule('GitLab', 'GR1348941', /[\w-]{20}/y),
  rule('GitLab', '_gitlab_session=', /[0-9a-z]{32}/y),
  rule('Google', 'AIza', /[\w-]{35}/y),
  rule('Google', 'ya29.', /[\w-]{20,1024}/y, { digit: true }),
  rule('Google', 'GOCSPX-', /[\w-]{28}/y),
  rule('Grafana', 'glc_', /[A-Za-z0-9+/]{32,400}={0,3}/y),
  rule('Grafana', 'glsa_', /[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}/y),
  rule('Groq', 'gsk_', /[A-Za-z0-9]{20,80}/y),
  rule('Harness', 'pat. sat.', /[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}/y),
  rule('Heroku', 'HRKU-AA', /[\w-]{58}/y),
  rule('Hugging Face', 'hf_ api_org_', /[A-Za-z0-9]{30,40}/y),
  rule('Infracost', 'ico-', /[A-Za-z0-9]{32}/y),
  rule('Intra42', 's-s4t2ud- s-s4t2af-', /[a-f0-9]{64}/y),
  rule('LangSmith', 'lsv2_pt_ lsv2_sk_', /[a-f0-9]{32}_[a-f0-9]{10}/y),
  rule('Linear', 'lin_api_ lin_oauth_', /[A-Za-z0-9]{40,64}/y),
  rule('Mapbox', 'pk. sk. tk.', /[A-Za-z0-9]{60,200}\.[\w-]{22}/y),
  rule('New Relic', 'NRAK-', /[A-Za-z0-9]{27}/y),
  rule('New Relic', 'NRJS-', /[a-f0-9]{19}/y),
  rule('New Relic', 'NRII-', /[\w-]{32}/y),
  rule('Notion', 'ntn_', /\d{11}[A-Za-z0-9]{35}/y),
  rule('Notion', 'secret_', /[A-Za-z0-9]{43}/y, { digit: true }),
  rule('npm', 'npm_', /[A-Za-z0-9]{30,40}/y),
  rule('Octopus', 'API-', /[A-Z0-9]{26}/y),
  rule('OpenAI, Anthropic and others', 'sk-', /[\w-]{16,512}/y, { digit: true, entropy: 3 }),
  rule('OpenShift', 'sha256~', /[\w-]{43}/y),
  rule('Perplexity', 'pplx-', /[A-Za-z0-9]{48}/y),
  rule(
    'Plaid',
    'access-sandbox- access-development- access-production-',
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/y,
  ),
  rule('PlanetScale', 'pscale_tkn_ pscale_oauth_ pscale_pw_', /[\w=.-]{32,64}/y),
  rule('Postman', 'PMAK-', /[A-Fa-f0-9]{24}-[A-Fa-f0-9]{34}/y),
  rule('Prefect', 'pnu_', /[A-Za-z0-9]{36}/y),
  rule('Pulumi', 'pul-', /[a-f0-9]{40}/y),
  rule('PyPI', 'pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZw', /[\w-]{50,1000}/y),
  rule('ReadMe', 'rdme_', /[a-z0-9]{70}/y),
  rule('Replicate', 'r8_', /[A-Za-z0-9]{37}/y),
  rule('RubyGems', 'rubygems_', /[a-f0-9]{48}/y),
  rule('Scalingo', 'tk-us-', /[\w-]{48}/y),
  rule('SendGrid', 'SG.', /[\w-]{16,32}\.[\w-]{32,64}|[\w=.-]{66}/y),
  rule('Brevo', 'xkeysib- xsmtpsib-', /[a-f0-9]{64}-[A-Za-z0-9]{16}/y),
  rule('Sentry', 'sntrys_', /[A-Za-z0-9+/=_-]{40,600}/y),
  rule('Sentry', 'sntryu_', /[a-f0-9]{64}/y),
  rule('SettleMint', 'sm_aat_ sm_pat_ sm_sat_', /[A-Za-z0-9]{16}/y),
  rule('Shippo', 'shippo_live_ shippo_test_', /[A-Fa-f0-9]{40}/y),
  rule('Shopify', 'shpat_ shpca_ shppa_ shpss_', /[A-Fa-f0-9]{32}/y),
  rule('Slack', 'xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd-', /(?=[A-Za-z-]{0,64}\d)[A-Za-z0-9%-]{8,300}/y, {
    entropy: 2,
  }),
  rule('Slack', 'xoxe.xoxb- xoxe.xoxp-', /\d-[A-Za-z0-9]{100,200}/y),
  rule('Slack', 'xapp- XAPP-', /\d-[A-Za-z0-9]{1,40}-\d{1,40}-[A-Za-z0-9]{1,120}/y),
  rule(
    'Slack',
    'hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/',
    /[A-Za-z0-9+/]{40,60}/y,
  ),
  rule('Sourcegraph', 'sgp_', /(?:(?:[A-Fa-f0-9]{16}|local)_)?[A-Fa-f0-9]{40}/y),
  rule('Square', 'EAAA sq0atp- sq0csp-', /[\w-]{22,60}/y, { digit: true }),
  rule('Stripe', 'sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ pk_live_ pk_test_', /[A-Za-z0-9]{10,255}/y),
  rule('Stripe', 'whsec_', /[A-Za-z0-9+/]{24,64}={0,2}/y, { digit: true }),
  rule('Supabase', 'sbp_', /[a-f0-9]{40}/y),
  rule('Tavily', 'tvly-', /[\w-]{24,64}/y, { digit: true }),
  rule(
    'Teams',
    'webhook.office.com/webhookb2/',
    /[a-z0-9-]{36}@[a-z0-9-]{36}\/IncomingWebhook\/[a-z0-9]{32}\/[a-z0-9-]{36}/y,
  ),
  rule('Twilio', 'SK', /[0-9a-f]{32}/y, { entropy: 3 }),
  rule('Typeform', 'tfp_', /[\w.=-]{59}/y),
  rule('Vault', 'hvs. hvb.', /[\w-]{90,300}/y),
  rule('Vault', 's.', /[A-Za-z0-9]{24}/y, { digit: true, entropy: 3.5 }),
  rule('xAI', 'xai-', /[A-Za-z0-9]{20,100}/y),
  rule('Yandex', 'AQVN', /[\w-]{35,38}/y),
]
