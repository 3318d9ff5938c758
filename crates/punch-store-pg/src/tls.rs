//! TLS with rustls. Certificates are read only when the server has agreed to use TLS: most connections are local, and reading
//! those of the system takes longer than everything else in a hook.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::address::CertificateCheck;

/// Makes TLS connections as an address asks for them.
#[derive(Clone)]
pub struct Tls {
    pub verify: CertificateCheck,
    pub root_certificate: Option<PathBuf>,
}

impl Tls {
    /// Encrypts a connection to a host.
    pub async fn connect(&self, host: String, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let config = self.config().map_err(io::Error::other)?;
        let host = ServerName::try_from(host).map_err(io::Error::other)?;
        TlsConnector::from(Arc::new(config)).connect(host, stream).await
    }

    fn config(&self) -> Result<ClientConfig, String> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let (inner, trusted) = match self.verify {
            CertificateCheck::Nothing => (None, Vec::new()),
            CertificateCheck::Authority | CertificateCheck::Full => {
                let (roots, trusted) = self.roots()?;
                let verifier = WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::clone(&provider)).build();
                (Some(verifier.map_err(|error| error.to_string())?), trusted)
            }
        };
        let verifier = Verifier { provider, inner, trusted, name_counts: self.verify == CertificateCheck::Full };
        Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
    }

    /// The certificates that are trusted; those of a file also one by one.
    fn roots(&self) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), String> {
        let (mut roots, mut trusted) = (RootCertStore::empty(), Vec::new());
        match &self.root_certificate {
            Some(file) => {
                let unreadable = |error: &dyn std::fmt::Display| format!("cannot read `{}`: {error}", file.display());
                let read = CertificateDer::pem_file_iter(file).map_err(|error| unreadable(&error))?;
                for certificate in read {
                    let certificate = certificate.map_err(|error| unreadable(&error))?;
                    roots.add(certificate.clone()).map_err(|error| unreadable(&error))?;
                    trusted.push(certificate);
                }
            }
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
        }
        if roots.is_empty() { Err("no root certificates; set sslrootcert".to_owned()) } else { Ok((roots, trusted)) }
    }
}

/// Judges certificates as `sslmode` says. Signatures are always verified.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    inner: Option<Arc<WebPkiServerVerifier>>,
    trusted: Vec<CertificateDer<'static>>,
    name_counts: bool,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(inner) = &self.inner else { return Ok(ServerCertVerified::assertion()) };
        match inner.verify_server_cert(certificate, chain, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.name_counts => Ok(ServerCertVerified::assertion()),
            // A server with a certificate that it signed itself, as most tutorials make them: the user trusts this very one.
            Err(_) if self.trusted.iter().any(|trusted| trusted == certificate) => {
                if self.name_counts {
                    verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            judged => judged,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
