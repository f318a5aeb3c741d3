// Command fileserver serves any number of bytes by HTTPS, with a certificate of its own, at an address that it is given:
// GET /N is N bytes of a fixed stream. It ends with its standard input.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"math/big"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	certificate, err := newCertificate()
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{
		Addr:              os.Args[1],
		Handler:           http.HandlerFunc(serve),
		ReadHeaderTimeout: 10 * time.Second,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	log.Fatal(server.ListenAndServeTLS("", ""))
}

// stream is what every answer begins with: no packet of it is like another.
func stream() io.Reader { return mathrand.NewChaCha8([32]byte{}) }

func serve(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.ParseInt(r.URL.Path[1:], 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Length", strconv.FormatInt(n, 10))
	_, _ = io.CopyN(w, stream(), n)
}

func newCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
