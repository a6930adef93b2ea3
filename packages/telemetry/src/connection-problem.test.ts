import { expect, it } from 'vitest';
import { connectionProblem } from './connection-problem.ts';

const advice = {
  untrusted: 'see CA',
  misnamed: 'see URL',
  refused: 'see CERT',
  foreign: 'see TLS',
};

it.each([
  ['SELF_SIGNED_CERT_IN_CHAIN', 'see CA'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'see CA'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'see CA'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'see CA'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'see URL'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'see CERT'],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'see CERT'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'see TLS'],
  ['EPROTO', 'see TLS'],
  ['ECONNRESET', 'see TLS'],
])('says for %s what to look at', (code, hint) => {
  const problem = Object.assign(new Error('it failed'), { code });
  expect(connectionProblem(problem, advice)).toBe(`it failed (${hint})`);
  expect(connectionProblem(new Error('around it', { cause: problem }), advice)).toContain(hint);
  expect(connectionProblem(problem, {})).toBe('it failed');
});

it('does not take another version of TLS for a refused certificate', () => {
  const code = 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION';
  const problem = Object.assign(new Error('it failed'), { code });
  expect(connectionProblem(problem, advice)).toBe('it failed');
});

it('keeps the reason of what OpenSSL says, in one line', () => {
  const said =
    'Connection error: 802C6A72857F0000:error:0A000412:SSL routines:ssl3_read_bytes:sslv3 alert ' +
    'bad certificate:../deps/openssl/openssl/ssl/record/rec_layer_s3.c:1601:SSL alert number 42\n';
  expect(connectionProblem(new Error(said), advice)).toBe(
    'Connection error: sslv3 alert bad certificate',
  );
});

it('has something to say of an error without a text', () => {
  expect(connectionProblem(new AggregateError([], ''), advice)).toBe('AggregateError');
});
