import { RefusedAddressError } from './addresses.ts';
import { DeliveryError, RefusedMessageError } from './post.ts';

/** A certificate that is not accepted: the receiver answered, and only its owner can change that. */
const CERTIFICATE = /^(?:CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

const UNREACHED =
  'the receiver could not be reached: its name has no address, an address of it may not be reached, or nothing answers there. The log of the dispatcher says which';

/**
 * Why a delivery failed, as the readers of the subscription see it. Names that resolve, addresses and open ports of the
 * operator's network are not told: a subscription would look around in it.
 */
export function shownReason(error: Error): string {
  if (error instanceof DeliveryError || error instanceof RefusedMessageError) return error.message;
  if (error instanceof RefusedAddressError && error.isStated) return error.message;
  const { code = '', responseCode } = error as Error & { code?: string; responseCode?: number };
  if (responseCode !== undefined) return `the mail server answered with the status ${responseCode}`;
  if (CERTIFICATE.test(code)) return `the certificate of the receiver is not accepted (${code})`;
  return UNREACHED;
}
