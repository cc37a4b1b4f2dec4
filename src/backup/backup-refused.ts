/**
 * A backup that cannot be made, or cannot be restored. The message is for the operator and says all there is to say.
 */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
}
